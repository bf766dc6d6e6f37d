"""Commands of the audit trail."""
