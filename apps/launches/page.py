"""What the page of one launch shows, as plain values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils.functional import Promise

from apps.accounts.models import Person
from apps.accounts.queries import hands_for
from apps.changes.models import Change, ChangeKind, ChangeState, Target
from apps.core import clock
from apps.core.actor import Actor, Via
from apps.core.hostlist import fold
from apps.core.rights import Right
from apps.core.speech import said
from apps.fleet.models import Node
from apps.launches.engine.standing import Standing
from apps.launches.forms import AnswersForm
from apps.launches.models import Evaluation, Launch, LaunchState, Waiver
from apps.launches.queries import Decision, editors_of, history_of, manual_items
from apps.launches.queries.inputs import nodes_of
from apps.launches.words import GROUPS, INPUTS, ITEMS, ORDER_OF_VERDICTS, found_in

_UNDER_WAY = "change_under_way"  # the code of a check that names changes
SIGNABLE = (Standing.NEEDS_SIGNOFF, Standing.GO, Standing.NO_GO, Standing.UNKNOWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemGroup:
    """Items of one subject, worst first; worst is the verdict of the first. count: how many there are."""

    name: str | Promise
    items: list[dict[str, Any]]
    worst: str
    count: int


def evaluation_context(evaluation: Evaluation | None, decision: Decision) -> dict[str, Any]:
    """What is to be seen of an evaluation: items by group, what blocks, and how many of which verdict."""
    shown = _shown_items(evaluation) if evaluation else []
    counts = Counter(item["verdict"] for item in shown)
    sign_offs = list(evaluation.sign_offs.select_related("person")) if evaluation else []
    return {
        "evaluation": evaluation,
        "decision": decision,
        "groups": _groups(shown),
        "blocking": _worst_first(item for item in shown if item["verdict"] in ("fail", "unknown")),
        "tally": [(verdict, counts[verdict]) for verdict in ORDER_OF_VERDICTS if counts[verdict]],
        "changed": [INPUTS.get(name, name) for name in decision.changed],
        "sign_offs": sign_offs,
        "refused": next((one for one in sign_offs if not one.go), None),
    }


def launch_context(actor: Actor, launch: Launch, answers: AnswersForm | None = None) -> dict[str, Any]:
    """Everything that the page of a launch shows, and what the reader may do there.

    answers: the form of answers as it was sent, where something in it is wrong.
    """
    decided, earlier = history_of(launch, limit=10)
    shown = evaluation_context(decided.evaluation, decided)
    nodes = nodes_of(launch)
    signed_go = sum(one.go for one in shown["sign_offs"])
    editor_ids = editors_of([launch])[launch.pk]
    rollbacks = _rollbacks_for(launch)
    return shown | {
        "launch": launch,
        "base_url": settings.PUBLIC_URL,
        "nodes": nodes,
        "folded_nodes": fold(node.name for node in nodes),
        "sign_offs_needed": max(0, launch.template.sign_offs - signed_go),
        "signers": hands_for(
            Right.SIGN,
            scope_id=launch.cluster.scope_id,
            involved_ids=editor_ids | {one.person_id for one in shown["sign_offs"]},
        ),
        "waivers": _waivers(launch),
        "rollbacks": rollbacks,
        "unreviewed": _unreviewed(launch, nodes),
        "earlier": earlier,
        **_answering(launch, answers or AnswersForm(items=manual_items(launch))),
        "person_id": actor.person_id,
        **_rights(actor, launch, decided, shown, rollbacks),
        "edited_it": actor.person_id in editor_ids - {launch.opened_by_id},
    }


def _answering(launch: Launch, form: AnswersForm) -> dict[str, Any]:
    """The form of answers, and its items: those that wait first, then those that have one, with the newest."""
    newest = {one.item: one for one in launch.answers.select_related("person").order_by("pk")}
    rows = [row | {"given": newest.get(row["item"])} for row in form.rows()]
    return {
        "answers": form,
        "unanswered": [row for row in rows if not row["given"]],
        "answered": [row for row in rows if row["given"]],
    }


def _rights(
    actor: Actor, launch: Launch, decided: Decision, shown: dict[str, Any], rollbacks: Iterable[Change]
) -> dict[str, Any]:
    scope_id, is_open = launch.cluster.scope_id, launch.state == LaunchState.OPEN
    operates = actor.may(Right.OPERATE, scope_id)
    signs = actor.may(Right.SIGN, scope_id) and actor.via is Via.SESSION
    evaluation = decided.evaluation
    items = evaluation.items if evaluation else []
    rolled_back = _done_since(evaluation, rollbacks) if is_open else None
    return {
        "rolled_back": rolled_back,
        "offers_rollback": is_open
        and operates
        and rolled_back is None
        and any(item["offer_rollback"] for item in items),
        "may_operate": operates and is_open,
        "may_answer": is_open and (operates or signs),
        "may_evaluate": not launch.is_over and (operates or signs),
        "shuts_the_gate": operates
        and decided.standing is Standing.GO
        and launch.template.sign_offs > 0,  # a new evaluation is not signed yet
        "may_sign": signs
        and not launch.is_over
        and evaluation is not None
        and evaluation.done_at is not None
        and not decided.is_stale
        and decided.standing in SIGNABLE,
        "opened_it": actor.person_id == launch.opened_by_id,
        "has_signed": any(one.person_id == actor.person_id for one in shown["sign_offs"]),
        "may_start": operates and is_open and decided.standing is Standing.GO,
        "may_finish": operates and launch.state == LaunchState.RUNNING,
        "approves_waivers": signs,
    }


def _shown_items(evaluation: Evaluation) -> list[dict[str, Any]]:
    """Items with words and people; what the evaluation itself keeps are ids and codes."""
    answered = [item["answered_by"] for item in evaluation.items if item.get("answered_by")]
    people = {person.pk: person.name for person in Person.objects.filter(pk__in=answered)}
    ids = [item["waiver"] for item in evaluation.items if item.get("waiver")]
    waivers = {row.pk: row for row in Waiver.objects.filter(pk__in=ids).select_related("approved_by")}
    return [
        item
        | {
            "name": ITEMS.get(item["key"], item["key"]),
            "said": found_in(item),
            "answered_name": people.get(item.get("answered_by"), ""),
            "answered_when": datetime.fromisoformat(item["answered_at"]) if item.get("answered_at") else None,
            "folded": fold(item["nodes"]),
            "waiver_row": waivers.get(item.get("waiver")),
        }
        for item in _with_titles(evaluation.items)
    ]


def _with_titles(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The items with titles of changes that the portal wrote in the reader's language; what is kept stays English."""
    paths = {proof["url"] for item in items if item["code"] == _UNDER_WAY for proof in item["proofs"]}
    ids = [int(path.rstrip("/").rpartition("/")[2]) for path in paths]  # each is the address of a change
    rows = Change.objects.filter(pk__in=ids, title_said__isnull=False) if ids else []
    titles = {str(row): said(row.named) for row in rows}

    def told(text: str) -> str:
        for kept, title in titles.items():
            text = text.replace(kept, title)
        return text

    def in_readers_words(item: dict[str, Any]) -> dict[str, Any]:
        proofs = [proof | {"label": told(proof["label"])} for proof in item["proofs"]]
        values = item.get("values") or {}
        return item | {"proofs": proofs, "values": {key: told(text) for key, text in values.items()}}

    return [in_readers_words(item) if item["code"] == _UNDER_WAY else item for item in items]


def _worst_first(items: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(items, key=lambda item: ORDER_OF_VERDICTS.index(item["verdict"]))


def _groups(shown: Iterable[dict[str, Any]]) -> list[ItemGroup]:
    by_group: dict[str, list[dict[str, Any]]] = {}
    for item in _worst_first(shown):
        by_group.setdefault(item["group"], []).append(item)
    return [
        ItemGroup(name=GROUPS.get(key, key), items=items, worst=items[0]["verdict"], count=len(items))
        for key, items in by_group.items()
    ]


def _waivers(launch: Launch) -> list[Waiver]:
    """Waivers that nobody revoked, with their item's name, whether their time is over, and who can approve them."""
    rows = list(launch.waivers.filter(revoked_at__isnull=True).select_related("requested_by", "approved_by"))
    now = clock.now()
    for row in rows:
        row.name = ITEMS.get(row.item, row.item)
        row.key = str(row.pk)
        row.is_over = row.expires_at <= now
        if row.approved_at is None and not row.is_over and launch.state == LaunchState.OPEN:
            row.approvers = hands_for(
                Right.SIGN, scope_id=launch.cluster.scope_id, involved_ids={row.requested_by_id}
            )
    return rows


def _unreviewed(launch: Launch, nodes: Iterable[Node]) -> list[Change]:
    """Rollbacks of nodes of an open launch that no second person has looked at yet: they stop nothing."""
    if launch.state != LaunchState.OPEN:
        return []
    rows = Change.objects.filter(kind=ChangeKind.ROLLBACK, reviewed_at__isnull=True)
    return list(rows.filter(pk__in=Target.objects.filter(node__in=list(nodes)).values("change")))


def _rollbacks_for(launch: Launch) -> list[Change]:
    """Rollbacks that were started because of this launch, newest first."""
    path = reverse("launches:launch", args=[launch.pk])
    return list(Change.objects.filter(origin_path=path).select_related("requester"))


def _done_since(evaluation: Evaluation | None, rollbacks: Iterable[Change]) -> Change | None:
    """The newest of these rollbacks that was done after the evaluation: what the evaluation says may be mended."""
    if evaluation is None or evaluation.done_at is None:
        return None
    done = (one for one in rollbacks if one.state == ChangeState.DONE)
    return next((one for one in done if one.ended_at and one.ended_at > evaluation.done_at), None)
