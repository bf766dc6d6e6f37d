"""The audit trail is only added to at its end; the head of its chain only goes forward, to an event that is there."""

from __future__ import annotations

from apps.core.triggers import Guard

_BACKWARD = """NEW.id <> OLD.id OR NEW.seq < OLD.seq OR ((NEW.seq <> OLD.seq OR NEW.hash <> OLD.hash)
    AND NOT EXISTS (SELECT 1 FROM audit_auditevent WHERE seq = NEW.seq AND hash = NEW.hash))"""

_FOLLOWS_NOTHING = """NOT EXISTS (SELECT 1 FROM audit_audithead WHERE seq = NEW.seq - 1 AND hash = NEW.prev_hash)
    AND NOT EXISTS (SELECT 1 FROM audit_auditevent WHERE seq = NEW.seq - 1 AND hash = NEW.prev_hash)"""

_SECOND = "EXISTS (SELECT 1 FROM audit_audithead)"

GUARDS = [
    *(
        Guard(
            name=f"audit_event_no_{event.lower()}",
            table="audit_auditevent",
            event=event,
            when=when,
            message="the audit trail is append-only",
        )
        for event, when in (("UPDATE", ""), ("DELETE", ""), ("INSERT", _FOLLOWS_NOTHING))
    ),
    *(
        Guard(
            name=f"audit_head_no_{event.lower()}",
            table="audit_audithead",
            event=event,
            when=when,
            message="the head of the audit trail stays and only goes forward",
        )
        for event, when in (("UPDATE", _BACKWARD), ("DELETE", ""), ("INSERT", _SECOND))
    ),
]
