"""Decisions about health, and what observations make of it."""

from apps.health.services.faults import resolve_fault
from apps.health.services.observations import record_reading

__all__ = ["record_reading", "resolve_fault"]
