"""Contacts whose surfaces yield: their forces, and how finely a tick is integrated for them."""
