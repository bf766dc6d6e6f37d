"""Writing the audit trail, verifying it, and handing it out."""

from apps.audit.services.trail import deciding, decision, record

__all__ = ["deciding", "decision", "record"]
