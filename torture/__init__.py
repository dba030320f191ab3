"""The fault campaign: what a state file must survive, done to it. `python -m torture --help`."""
