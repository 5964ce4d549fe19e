"""The payloads of the topics about what changes: those that observers read, and the pointer of a window.

World axes have z up; quaternions are w, x, y, z; D is the base frame of the device.  Tables of the words that
``kind`` takes stand in ``docs/protocol.md``.
"""

from __future__ import annotations

from hapticsim.wire.messages.schema import Field, Topic

STATE = Topic(
    "state",
    (
        Field("tick", "integer", "number of the tick"),
        Field("time_s", "number", "simulated time", "s"),
        Field("mode", "integer", "as `q` of `force`"),
        Field("fault", "integer", "as `x` of `force`; with mode 4 why force is interrupted"),
        Field("interruptions", "integer", "how often force was interrupted and came back by itself"),
        Field("longest_interruption_s", "number", "the longest silence of these", "s"),
        Field("q", "numbers", "generalized coordinates", "m, rad"),
        Field("u", "numbers", "generalized speeds", "m/s, rad/s"),
        Field("bodies", "numbers", "position [m] and quaternion in the world", "", "7 per body"),
        Field(
            "contacts",
            "maps",
            "closed contacts",
            inside=(
                Field("a", "text", "name of a shape"),
                Field("b", "text", "name of the shape that it touches"),
                Field("point", "numbers", "world", "m", 3),
                Field("normal", "numbers", "world", "", 3),
                Field("force_N", "number", "along the normal", "N"),
                Field("friction_N", "numbers", "across the normal, on `contacts.a`; world", "N", 3),
                Field("gap_m", "number", "before projection", "m"),
            ),
        ),
        Field(
            "stops",
            "maps",
            "stops of joints that push",
            inside=(
                Field("joint", "text", "its name"),
                Field("side", "text", "`lower` or `upper`"),
                Field("force", "number", "into the range", "N, N m"),
                Field("unit", "text", "of the force: `N` or `N m`"),
            ),
        ),
        Field(
            "device",
            "map",
            "in its base frame",
            inside=(
                Field("connected", "boolean", "it was heard in the last 0.1 s"),
                Field("position", "numbers", "of its handle", "m", 3),
                Field("quaternion", "numbers", "orientation of its handle", "", 4),
                Field("target", "numbers", "where the hand wants to be", "m", 3, nil=True),
                Field("force_N", "numbers", "on the hand", "N", 3),
                Field("torque_Nm", "numbers", "on the hand", "N m", 3),
            ),
        ),
        Field(
            "coupler",
            "map",
            "world",
            inside=(
                Field("anchor_W", "numbers", "the mapped device", "m", 3),
                Field("handle_W", "numbers", "the handle", "m", 3),
                Field("force_W", "numbers", "on the handle", "N", 3),
                Field("torque_W", "numbers", "on the handle's body", "N m", 3),
                Field("anchor_quaternion_W", "numbers", "see below", "", 4, nil=True),
                Field("handle_quaternion_W", "numbers", "see below", "", 4, nil=True),
            ),
        ),
        Field("energy_J", "numbers", "kinetic, potential", "J", 2),
        Field(
            "constraints",
            "maps",
            "in the order of the scene",
            inside=(
                Field("name", "text", ""),
                Field("hold", "text", "as in `done`"),
                Field("force", "numbers", "of each row", "N, N m", "1 per row"),
                Field("gap", "numbers", "of each row before projection, 0 while free", "m, rad", "1 per row"),
            ),
        ),
        Field("rank", "integer", "of all imposed rows, contacts included"),
        Field("rows", "integer", "their number"),
        Field("dependent", "texts", "the speeds, of the first 52, that follow from the others"),
        Field(
            "residual",
            "number",
            "largest gap of an imposed row before projection: the drift of one tick",
            "m, rad",
        ),
        Field(
            "certificate",
            "map",
            "how far the tick was from the laws of contact",
            inside=(
                Field("depth_m", "number", "how deep what pushes is inside as it begins", "m", nil=True),
                Field("cone_N", "number", "by how much forces leave their cones", "N", nil=True),
                Field("normal_m_per_s", "number", "of rates along normals", "m/s", nil=True),
                Field("friction_m_per_s", "number", "of friction from against the slip", "m/s", nil=True),
                Field("gain_J", "number", "energy gained beyond the work put in", "J", nil=True),
            ),
        ),
        Field(
            "sensors",
            "map",
            "a number per sensor of the scene by its name, of the same `q` and `u`; nil: not finite",
        ),
    ),
)

EVENTS = Topic(
    "events",
    (
        Field("tick", "integer", "number of the tick"),
        Field("time_s", "number", "simulated time of the event", "s"),
        Field("kind", "text", "as below"),
        Field("text", "text", "for people"),
        Field("value", "number", "as below; nil where it is not finite", "as below", nil=True),
        Field("constraint", "text", "its name, where the event is about one", absent=True),
        Field(
            "rank_before",
            "integer",
            "of the rows imposed before; this and what follows come with `select` and `rank`",
            absent=True,
        ),
        Field("rank", "integer", "of the rows imposed now", absent=True),
        Field("rows", "integer", "number of the rows imposed now", absent=True),
        Field("condition", "number", "bound of the condition of the dependent columns", absent=True),
        Field(
            "condition_before",
            "number",
            "what it would be with the speeds that were dependent before; nil: none were, or cannot be",
            nil=True,
            absent=True,
        ),
        Field("dependent", "texts", "the speeds that follow from the others, all of them", absent=True),
        Field(
            "free_directions",
            "lists of numbers",
            "where rows became dependent: up to two directions of the generalized speeds that they leave "
            "free; where the rank drops, branches of the motion part along them",
            absent=True,
        ),
    ),
)


def _spread(key: str, meaning: str, percentiles: tuple[str, ...]) -> Field:
    inside = tuple(Field(p, "number", "", "us") for p in percentiles)
    return Field(key, "map", meaning, inside=inside)


_LOOP = ("p50", "p99", "p999", "p9999", "max")

STATS = Topic(
    "stats",
    (
        Field("ticks", "integer", "since the start"),
        Field("missed", "integer", "deadlines missed"),
        _spread("lateness_us", "of the wake-up; `p9999` is 99.99 %", _LOOP),
        _spread("execution_us", "of the tick", _LOOP),
        Field("rows_lost", "integer", "ticks that were not told, because the publisher fell behind"),
        Field("interruptions", "integer", "as in `state`"),
        Field("longest_interruption_ms", "number", "the longest silence of these", "ms"),
        Field(
            "starved",
            "integer",
            "of a remote site: periods in which it stood still because its next command had not come",
        ),
        Field(
            "link",
            "map",
            "of an operator's side",
            absent=True,
            inside=(
                Field("age_s", "number", "of what the remote site said last", "s"),
                Field("allowed_s", "number", "from which age on there is no force", "s"),
                Field("corrections", "integer", "of the mechanism"),
                Field("largest_step_m", "number", "of a correction", "m"),
                Field("lost", "integer", "how often the link was begun anew"),
            ),
        ),
        _spread("round_trip_us", "of the device", ("p50", "p99")),
        Field("received", "integer", "messages of devices that were taken"),
        Field("dropped", "map", "frames refused, by reason"),
        Field("floods", "integer", "how often more frames waited than are handled at once"),
        Field("scheduling", "text", "how the loop is scheduled"),
        Field("recorder", "text", "what is recorded, or why not"),
        Field(
            "host",
            "map",
            "of a server with `--probe`",
            absent=True,
            inside=(
                Field("stalls", "integer", "how often a processor stood still for 1 ms or more"),
                Field("longest_ms", "number", "the longest of these", "ms"),
                Field("late_hosts", "integer", "ticks that ended 2 ms late or more in such a stall"),
                Field("late_ours", "integer", "and outside one"),
            ),
        ),
    ),
)

PREDICTED = Topic(
    "predicted",
    (
        Field("time_s", "number", "simulated time of the prediction", "s"),
        Field("age_s", "number", "of the telemetry it rests on; 0 from a plain server", "s"),
        Field("error_m", "number", "measured error of the handle in the last comparison", "m"),
        Field(
            "error_q",
            "number",
            "largest error of a coordinate in that comparison; 0 where none is measured",
            "m, rad",
        ),
        Field("q", "numbers", "predicted coordinates", "m, rad"),
        Field("u", "numbers", "predicted speeds", "m/s, rad/s"),
        Field("bodies", "numbers", "predicted poses, as in `state`", "", "7 per body"),
        Field("path", "lists of numbers", "the handle from confirmed to predicted", "m", "3 in each"),
        Field(
            "confirmed",
            "map",
            "of the telemetry",
            inside=(
                Field("time_s", "number", "simulated time", "s"),
                Field("bodies", "numbers", "poses, as in `state`", "", "7 per body"),
            ),
        ),
    ),
)

POINTER = Topic(
    "pointer",
    (
        Field("target", "numbers", "where the hand wants to be, device base frame", "m", 3),
        Field(
            "turn",
            "number",
            "how far the hand wants the handle turned about Z; absent: the hand stays as it is turned",
            "rad",
            absent=True,
        ),
        Field("buttons", "integer", "as `b` of the device's `state`"),
        Field("sequence", "integer", "the window's count of its messages"),
    ),
)
