"""The keys that every constraint has: its name, whether it holds, what lets it slip, break or engage."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from hapticsim.config.schema.robot import ConstraintName, Name, NotNegative, Positive, Section

Bodies = Annotated[list[Name], Field(min_length=2, max_length=2)]


class FrictionEntry(Section):
    """What lets a constraint with one row slip: it holds up to ``static`` times the normal force."""

    static: NotNegative = Field(description="coefficient up to which it sticks")
    kinetic: NotNegative = Field(description="coefficient of the friction once it slips")
    normal_N: NotNegative | None = Field(default=None, description="normal force, if it is constant")
    normal: Name | None = Field(
        default=None, description="constraint above this one, of one row, whose force is the normal force"
    )


class ConstraintEntry(Section):
    """What all constraints have."""

    name: ConstraintName = Field(description="unique; it is switched by this name")
    held: bool = Field(default=True, description="whether it holds at the start")
    friction: FrictionEntry | None = Field(
        default=None,
        description="lets it slip; for constraints of one row; left out: it holds whatever comes",
    )
    break_N: Positive | None = Field(
        default=None, description="force (or torque) beyond which it breaks and stays free; one row only"
    )
    engage_on_touch: Bodies | None = Field(
        default=None, description="two shapes whose contact switches it on"
    )
