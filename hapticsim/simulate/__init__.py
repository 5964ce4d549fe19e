"""The tick in virtual time: alone, in lockstep with a driver, forked, replayed."""
