"""A device's sample into the force for the hand: coupler, safety, limits."""
