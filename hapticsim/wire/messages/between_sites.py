"""The payloads that cross the link of a teleoperation: ``commands`` to the remote site, ``telemetry`` back.

Values of type bytes are arrays of IEEE 754 binary64 numbers, little-endian, one after the other.
"""

from __future__ import annotations

from hapticsim.wire.messages.schema import Field, Topic

COMMANDS = Topic(
    "commands",
    (
        Field("session", "integer", "who commands, above 0"),
        Field("opens", "boolean", "whether this begins the session"),
        Field("first", "integer", "tick of the first command; -1: the remote site's present one"),
        Field("count", "integer", "number of commands"),
        Field("same", "bytes", "the first command: its tick, then its columns"),
        Field("vary", "integers", "which columns differ from command to command, in rising order"),
        Field("rows", "bytes", "those columns of all commands, command by command"),
    ),
)

TELEMETRY = Topic(
    "telemetry",
    (
        Field("site", "integer", "which process of the remote site"),
        Field("number", "integer", "its messages counted"),
        Field("session", "integer", "whose commands it takes"),
        Field("tick", "integer", "the tick that comes next"),
        Field("state", "bytes", "the packed state before that tick, for a site of the same version"),
        Field("missing", "integers", "ranges of ticks whose commands have not come: first and last of each"),
        Field("waited", "integer", "periods in which a command was waited for"),
    ),
)
