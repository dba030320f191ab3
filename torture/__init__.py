"""The fault campaign: does to a state file what it must survive. See `python -m torture --help`."""
