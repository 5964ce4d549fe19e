"""Messages into bytes and back: fields, bounds, topics."""
