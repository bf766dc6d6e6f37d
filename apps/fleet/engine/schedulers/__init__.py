"""Scheduler formats, one file per member: `write` gives the file for a fleet, `read` the fleet in a file."""
