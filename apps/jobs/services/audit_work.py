"""Asking for work of the audit trail, which stands below and knows of no jobs."""

from __future__ import annotations

from apps.core.actor import Actor
from apps.core.rights import Right
from apps.jobs.models import Job
from apps.jobs.services.work import enqueue

VERIFY, CHECKPOINT = "audit.verify", "audit.checkpoint"


def ask_for_verification(*, actor: Actor) -> Job:
    """A job that walks the whole trail. Raises NotAllowed (role) for who may not audit everywhere."""
    actor.require(Right.AUDIT, None)
    return enqueue(VERIFY, actor=actor)


def ask_for_checkpoint(*, actor: Actor) -> Job:
    """A job that keeps where the trail stands. Raises NotAllowed (role) for who may not audit everywhere."""
    actor.require(Right.AUDIT, None)
    return enqueue(CHECKPOINT, actor=actor)
