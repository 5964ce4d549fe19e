"""Endpoints into sockets that stay bounded, whatever a peer sends."""
