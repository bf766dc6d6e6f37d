"""What the page of one launch shows, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.utils.functional import Promise

from apps.accounts.models import Person
from apps.core.actor import Actor, Via
from apps.core.rights import Right
from apps.launches.engine.standing import Standing
from apps.launches.models import Evaluation, Launch, LaunchState
from apps.launches.queries import decision_of
from apps.launches.queries.inputs import nodes_of
from apps.launches.words import GROUPS, INPUTS, ITEMS, ORDER_OF_VERDICTS


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemGroup:
    """Items of one subject, worst first; worst is the verdict of the first."""

    name: str | Promise
    items: list[dict[str, Any]]
    worst: str


def item_groups(evaluation: Evaluation | None) -> list[ItemGroup]:
    """The items of an evaluation by group, groups with the worst verdict first."""
    if evaluation is None:
        return []
    people = {
        person.pk: person.name
        for person in Person.objects.filter(
            pk__in=[item["answered_by"] for item in evaluation.items if item.get("answered_by")]
        )
    }
    by_group: dict[str, list[dict[str, Any]]] = {}
    for item in evaluation.items:
        shown = item | {
            "name": ITEMS.get(item["key"], item["key"]),
            "answered_name": people.get(item.get("answered_by"), ""),
        }
        by_group.setdefault(item["group"], []).append(shown)
    groups = []
    for key, items in by_group.items():
        items.sort(key=lambda item: ORDER_OF_VERDICTS.index(item["verdict"]))
        groups.append(ItemGroup(name=GROUPS.get(key, key), items=items, worst=items[0]["verdict"]))
    return sorted(groups, key=lambda group: ORDER_OF_VERDICTS.index(group.worst))


def launch_context(actor: Actor, launch: Launch) -> dict[str, Any]:
    """Everything that the page of a launch shows, and what the reader may do there."""
    decided = decision_of(launch)
    evaluation = decided.evaluation
    items = evaluation.items if evaluation else []
    sign_offs = list(evaluation.sign_offs.select_related("person")) if evaluation else []
    is_open = launch.state == LaunchState.OPEN
    operates = actor.may(Right.OPERATE, launch.cluster.scope_id)
    signs = actor.may(Right.SIGN, launch.cluster.scope_id) and actor.via is Via.SESSION
    return {
        "launch": launch,
        "base_url": settings.PUBLIC_URL,
        "nodes": nodes_of(launch),
        "decision": decided,
        "evaluation": evaluation,
        "groups": item_groups(evaluation),
        "blocking": [item for item in items if item["verdict"] in ("fail", "unknown")],
        "changed": [INPUTS.get(name, name) for name in decided.changed],
        "sign_offs": sign_offs,
        "sign_offs_needed": max(0, launch.template.sign_offs - sum(one.go for one in sign_offs)),
        "waivers": launch.waivers.filter(revoked_at__isnull=True).select_related(
            "requested_by", "approved_by"
        ),
        "earlier": launch.evaluations.filter(done_at__isnull=False)[:10],
        "offers_rollback": is_open and operates and any(item["offer_rollback"] for item in items),
        "may_operate": operates and is_open,
        "may_answer": is_open and (operates or signs),
        "may_sign": signs
        and is_open
        and decided.standing in (Standing.NEEDS_SIGNOFF, Standing.GO, Standing.NO_GO),
        "opened_it": actor.person_id == launch.opened_by_id,
        "has_signed": any(one.person_id == actor.person_id for one in sign_offs),
        "may_start": operates and is_open and decided.standing is Standing.GO,
        "may_finish": operates and launch.state == LaunchState.RUNNING,
        "person_id": actor.person_id,
        "approves_waivers": signs,
    }
