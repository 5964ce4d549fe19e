"""The command line, by what a command needs: a run (live), a file (files), the installation (upkeep)."""
