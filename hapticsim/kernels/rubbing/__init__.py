"""Contacts that rub in exact ticks: which slide, stick or part after an event."""
