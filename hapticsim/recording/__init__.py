"""Recordings: rows of float64 and events in MCAP files.

    writer   rows in batches, never an exception into the caller
    background  the same in a thread of its own, so that nobody waits for the disk
    reader   whole, truncated or damaged files
    export   to .csv or .npz

MCAP (https://mcap.dev) is an open container that other tools read.  What a file of ours holds:

    profile ``hapticsim``
    attachment ``config.yaml``   the configuration as text
    metadata ``run``             names and values about the run
    metadata ``rows``            encoding and column names, also in the schema (JSON) of the channel
    channel ``rows``             per batch one message: float64, little-endian, by rows; column 0 is time [s]
    channel ``events``           per event one message: a JSON object

Messages of both channels are numbered together, from 1.
"""
