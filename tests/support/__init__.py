"""Processes that tests start beside themselves."""
