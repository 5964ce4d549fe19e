"""The keys by which the surfaces of a contact yield: one of three laws."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from hapticsim.config.schema.robot import NotNegative, Positive, Section

Along = Annotated[float, Field(gt=0.0, le=100.0)]


class LawEntry(Section):
    """What all laws have."""

    along_over_normal: Along = Field(
        default=1.0, description="stiffness and damping along the surface by those across it; with friction"
    )


class KelvinVoigt(LawEntry):
    """A spring and a damper side by side: ``f = K d + D d_dot``, with d the depth."""

    kind: Literal["kelvin_voigt"] = Field(description="kelvin_voigt")
    stiffness_N_per_m: Positive = Field(description="stiffness K")
    damping_Ns_per_m: NotNegative = Field(default=0.0, description="damping D")


class HuntCrossley(LawEntry):
    """Spheres that lose a part of their speed in proportion to it: ``f = K d^1.5 (1 + a d_dot)``."""

    kind: Literal["hunt_crossley"] = Field(description="hunt_crossley")
    stiffness_N_per_m1_5: Positive = Field(
        description="stiffness K, in newtons per metre to the power of 1.5"
    )
    loss_s_per_m: NotNegative = Field(
        default=0.0, description="loss a: slow impacts are thrown back with 1 - 2/3 a v of their speed v"
    )


class AzadFeatherstone(LawEntry):
    """Hertz's spring with a damper that grows with the area of contact: ``f = K d^1.5 + D d^0.5 d_dot``."""

    kind: Literal["azad_featherstone"] = Field(description="azad_featherstone")
    stiffness_N_per_m1_5: Positive = Field(
        description="stiffness K, in newtons per metre to the power of 1.5"
    )
    damping_Ns_per_m1_5: NotNegative = Field(
        default=0.0, description="damping D, in newton seconds per metre to the power of 1.5"
    )


AnyLaw = Annotated[KelvinVoigt | HuntCrossley | AzadFeatherstone, Field(discriminator="kind")]
