"""The wire: the only place that knows ZeroMQ and msgpack.

Three roads leave a server, and ``docs/protocol.md`` describes both byte by byte for any language:

    device_link --- state, arm, disarm ---> device_port     one device, ROUTER and DEALER, newest wins
                <-- force ---
    publisher ---- state, events, ... ---> subscriber       any number of observers, PUB and SUB, may drop
    switches ---- switch, list ---> control                 whoever changes constraints, each request answered

    topics      what is published, and its frame
    fields      what a value in a device message may be
    messages    the device messages, one dataclass each
    codec       message <-> bytes; total: any bytes give a message or a counted refusal
    requests    what may be asked on the control road, and the answers
    inbox       session and sequence rules, counters
    round_trip  delay from echoes
    endpoints   which are usable, who owns one
    ports       sockets and their options
    claim       who owns a path
    local_router, local_publisher
                what listens at a path, bounded whatever its peers send: door (who is let in), local_peers,
                peer, zmtp (the bytes)
    curve       keys, for endpoints that others can reach; allow_list, who may connect on a road

Importing any of it costs zmq and msgpack and neither numpy nor a compiler, so that a device driver
starts fast.
"""
