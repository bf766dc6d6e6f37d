"""Pages by which people hand in what tools print."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from apps.core.actor import Actor
from apps.core.errors import Missing
from apps.core.pages import STOP_POLLING, actor_of
from apps.core.rights import Right
from apps.evidence.models import ReceiptState
from apps.evidence.queries import receipt_for, receipts_visible
from apps.evidence.uploads import refused_uploads, require_whole
from apps.evidence.words import KINDS, effect_name, kind_name, unmatched_reason
from apps.fleet.models import Cluster
from apps.fleet.page import cluster_context
from apps.fleet.queries import cluster_for
from apps.portal import client
from apps.portal.forms import HandInForm
from apps.portal.services import intake

_SENT_SHOWN = 200


def hand_in(request: HttpRequest, slug: str) -> HttpResponse:
    """Drop files or paste text, of the node that a page has filled in or of any; then what became of each."""
    actor = actor_of(request)
    cluster = cluster_for(actor, slug, Right.OPERATE)
    about = {"node": request.GET.get("node", "")}
    form = HandInForm(request.POST or None, request.FILES or None, initial=about, cluster=cluster)
    if request.method == "POST" and form.has_something(refused_uploads(request)):
        require_whole(request)
        ids = ".".join(str(pk) for pk in _take_in(request, actor, cluster, form))
        return redirect(f"{reverse('portal:hand_in', args=[slug])}?sent={ids}")
    sent = _sent(actor, cluster, request.GET.get("sent", ""))
    context = cluster_context(cluster) | {
        "cluster": cluster,
        "form": form,
        "sent": sent,
        "refused": sum(row["receipt"].state == ReceiptState.REFUSED for row in sent),
        "client_sha256": client.sha256(),
        "client_url": request.build_absolute_uri(reverse("portal:client")),
        "portal_url": request.build_absolute_uri("/").rstrip("/"),
        "kinds": KINDS,
    }
    return render(request, "portal/hand_in.html", context)


def reading(request: HttpRequest, pk: int) -> HttpResponse:
    """How far the job is that reads a large file; ends the polling once it is over."""
    receipt = receipt_for(actor_of(request), pk)
    if receipt.job is None:
        raise Missing()
    status = STOP_POLLING if receipt.job.is_over else 200
    return render(request, "portal/_reading.html", {"receipt": receipt}, status=status)


@require_POST
def assign_node(request: HttpRequest, pk: int) -> HttpResponse:
    """Say which node an unmatched delivery is about."""
    receipt = intake.assign_node(
        actor=actor_of(request), receipt_id=pk, node_name=request.POST.get("node", "")
    )
    return redirect("evidence:receipt", receipt.pk)


def _take_in(request: HttpRequest, actor: Actor, cluster: Cluster, form: HandInForm) -> list[int]:
    """Take in each file of the form; gives the receipts. Raises Busy (disk_full, volume)."""
    return [
        intake.take_in(
            actor=actor,
            cluster=cluster,
            chunks=chunks,
            file_name=name,
            node_name=form.cleaned_data["node"],
            kind=form.cleaned_data["kind"],
        ).pk
        for name, chunks in form.deliveries(refused_uploads(request))
    ]


def _sent(actor: Actor, cluster: Cluster, text: str) -> list[dict[str, Any]]:
    """The deliveries that the address names, in the order in which they were sent."""
    ids = [int(part) for part in text.split(".") if part.isdecimal() and len(part) < 16][:_SENT_SHOWN]
    rows = receipts_visible(actor).filter(pk__in=ids, scope_id=cluster.scope_id).order_by("id")
    return [
        {
            "receipt": row,
            "kind": kind_name(row.kind),
            "effects": [effect | {"word": effect_name(effect["what"])} for effect in row.effects],
            "unmatched": unmatched_reason(row) if row.state == ReceiptState.UNMATCHED else "",
        }
        for row in rows
    ]
