"""Recordings: rows of float64 and events in MCAP files.

    writer   rows in batches, never an exception into the caller
    background  the same in a thread of its own, so that nobody waits for the disk
    alongside   the same for a run in virtual time, which waits rather than lose a row
    reader   whole, truncated or damaged files
    recorded, quantities   what a file held, by the names of joints and shapes
    export   to .csv or .npz
    drawing, foxglove, json_template   messages beside the rows, for other programs

MCAP (https://mcap.dev) is an open container that other tools read.  What a file of ours holds:

    profile ``hapticsim``
    attachment ``config.yaml``   the configuration as text
    metadata ``run``             names and values about the run
    metadata ``rows``            encoding and column names, also in the schema (JSON) of the channel
    metadata ``quantities``      names, units and words of what the columns say
    channel ``rows``             per batch one message: float64, little-endian, by rows; column 0 is time [s]
    channel ``events``           per event one message: a JSON object

    channels ``/...``            what Foxglove plots and draws, JSON; nothing here reads them

Messages of all channels are numbered together, from 1.  docs/recordings.md has more.
"""
