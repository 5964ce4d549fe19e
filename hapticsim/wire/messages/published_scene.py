"""The payload of topic ``scene``: what does not change during a run."""

from __future__ import annotations

from hapticsim.wire.messages.schema import Field, Topic

_ROW = (
    Field("kind", "text", "what is kept, as below"),
    Field("a", "integer", "index of body A, -1 the world"),
    Field("b", "integer", "index of body B, -1 the world"),
    Field("point_a", "numbers", "in A", "m", 3),
    Field("point_b", "numbers", "in B", "m", 3),
    Field("direction_a", "numbers", "in A; of a `roll` in B", "", 3),
    Field("direction_b", "numbers", "in B", "", 3),
    Field("length", "number", "a distance, or the radius of a ball", "m"),
    Field("joints", "lists of numbers", "index of the body that a joint carries, and the joint's factor"),
    Field("curve", "numbers", "points of a curve in B, three numbers for each, at most 257 points", "m"),
    Field("unit", "text", "of its force, `N` or `N m`"),
)

SCENE = Topic(
    "scene",
    (
        Field("name", "text", "of the scene"),
        Field("role", "text", "`server`, `operator`, `remote` or `recording`"),
        Field("rate_Hz", "number", "of the tick", "Hz"),
        Field("bodies", "texts", "names, in the order of `state.bodies`"),
        Field("links", "lists of integers", "parent and child body index of each joint, -1 the world"),
        Field(
            "shapes",
            "maps",
            "what is drawn: shapes, and what a robot looks like",
            inside=(
                Field("name", "text", "of the shape; `link:visual` of what a link looks like"),
                Field("body", "integer", "index of the body that carries it, -1 the world"),
                Field(
                    "kind",
                    "text",
                    "`sphere`, `capsule`, `cylinder`, `cone`, `ellipsoid`, `box`, `plane` or `mesh`",
                ),
                Field("size", "numbers", "as below", "m"),
                Field("pose", "numbers", "position [m] and quaternion in the body", "", 7),
                Field("color", "integers", "red, green, blue, to 255", "", 3),
                Field("vertices", "numbers", "of a mesh, three numbers for each", "m", absent=True),
                Field("triangles", "integers", "of a mesh, three vertices each, from 0 on", absent=True),
            ),
        ),
        Field(
            "mapping",
            "map",
            "device to world",
            inside=(
                Field("origin", "numbers", "the device's centre in the world", "m", 3),
                Field("rotation", "numbers", "device axes in the world, row by row", "", 9),
                Field("motion_scale", "number", "metres in the world per metre of the device"),
                Field("force_scale", "number", "force on the hand per force in the world"),
            ),
        ),
        Field(
            "handle",
            "map",
            "what the coupler holds",
            nil=True,
            inside=(
                Field("body", "integer", "its index"),
                Field("point", "numbers", "in the body", "m", 3),
            ),
        ),
        Field(
            "coupler",
            "map",
            "what ties the device to the handle",
            inside=(Field("rotation", "text", "what is coupled of it: `none`, `z` (about its z), `full`"),),
        ),
        Field(
            "limits",
            "map",
            "0 where one is not known, or none is given",
            inside=(
                Field("force_N", "number", "on the hand", "N"),
                Field("torque_Nm", "number", "on the hand", "N m"),
                Field("workspace_radius_m", "number", "of the device", "m"),
            ),
        ),
        Field("speeds", "texts", "names of the generalized speeds"),
        Field(
            "constraints",
            "maps",
            "in the order of the scene",
            inside=(
                Field("name", "text", ""),
                Field("rows", "maps", "each takes one speed away", inside=_ROW),
            ),
        ),
        Field(
            "sensors",
            "texts",
            "names of the sensors of a mechanism, the unit last (`slip_m_per_s`); empty in other scenes",
        ),
    ),
)
