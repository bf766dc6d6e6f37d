"""Studies that take longer than a page should wait: asked for as jobs. They decide nothing and keep nothing."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from apps.core.actor import Actor
from apps.core.rights import TokenScope
from apps.jobs.models import Job
from apps.jobs.services import enqueue

KIND = "planning.study"


@transaction.atomic
def ask_study(
    *, actor: Actor, study: str, scope_id: int | None, values: dict[str, Any], asked: dict[str, Any]
) -> Job:
    """The job that answers a study; its result is the answer.

    scope_id: of the cluster whose plan or figures it rests on, None for none. values: the cleaned input. asked: the
    form as it was sent, to fill it again. The job is the asker's own, so that others who ask the same get one that
    they can see.
    """
    actor.require_token_scope(TokenScope.PLAN_WRITE)
    return enqueue(
        KIND, actor=actor, scope_id=scope_id, study=study, values=values, asked=asked, asked_by=actor.label
    )
