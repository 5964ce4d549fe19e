"""Kinds of fault, and the rigs they are tried on (tools/fault_campaign.py)."""
