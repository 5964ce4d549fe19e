"""A scene into a running server: where loop, wire, recorder and observers are put together."""
