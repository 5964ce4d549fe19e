"""The five stages of a tick: requests, begin, report, advance, commit; ``step`` calls them in this order."""
