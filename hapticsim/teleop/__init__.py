"""Delay, and looking ahead of it: both sides of a link, without threads or sockets."""
