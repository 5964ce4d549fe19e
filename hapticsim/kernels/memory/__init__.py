"""The arrays of a run: declared once, laid out in one block, packed into rows."""
