"""Faults, quarantine, knowledge and maintenance."""
