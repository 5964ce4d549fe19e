"""The velocity-level regime of contacts: no event is looked for, and each tick is one step with impulses."""
