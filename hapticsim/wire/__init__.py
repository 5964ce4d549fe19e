"""The wire: the only place that knows ZeroMQ and msgpack.

Three roads leave a server, and ``docs/protocol.md`` describes both byte by byte for any language:

    device/link --- state, arm, disarm ---> device/port     one device, ROUTER and DEALER, newest wins
                <-- force ---
    publisher ---- state, events, ... ---> subscriber       any number of observers, PUB and SUB, may drop
    switches ---- switch, list ---> control                 whoever changes constraints, each request answered

    messages    what is said on each road, as bytes; the codec is total: any bytes give a message or a
                counted refusal
    sockets     endpoints and keys into sockets that stay bounded, whatever a peer sends
    device      both ends of the device road: session and sequence rules, delay from echoes

Importing any of it costs zmq and msgpack and neither numpy nor a compiler, so that a device driver
starts fast.
"""
