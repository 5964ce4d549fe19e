"""One process of hapticsim: how it is started and ended, what it says, and which of its threads died."""
