"""Knowledge of symptoms, and a log held against it."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from apps.core.errors import Missing
from apps.core.filtering import refuse_unknown
from apps.core.pages import actor_of
from apps.core.speech import said
from apps.evidence.engine.source import Source, Unreadable
from apps.health import forms
from apps.health.engine import diagnose as engine
from apps.health.engine.knowledge import knowledge, search
from apps.health.words import told_item, told_symptom


def items(request: HttpRequest) -> HttpResponse:
    """All items, or those that hold the words of ?q=."""
    actor_of(request)
    refuse_unknown(None, request.GET, also=frozenset({"q"}))
    words = request.GET.get("q", "")
    context = {"items": [told_item(item) for item in search(words)], "words": words}
    return render(request, "health/knowledge.html", context)


def item(request: HttpRequest, item_id: str) -> HttpResponse:
    """One symptom with its causes, checks and remedies."""
    actor_of(request)
    found = next((one for one in knowledge() if one.id == item_id), None)
    if found is None:
        raise Missing(_("there is no such item"))
    return render(request, "health/item.html", {"item": told_item(found)})


def diagnose(request: HttpRequest) -> HttpResponse:
    """Paste or upload a log; nothing of it is kept."""
    actor_of(request)
    form = forms.DiagnoseForm(request.POST or None, request.FILES or None)
    context: dict[str, Any] = {"form": form, "diagnosis": None}
    if request.method == "POST" and form.is_valid():
        try:
            found = _diagnosis(form.cleaned_data)
        except Unreadable as failure:
            form.add_error("file", said(failure.message))
        else:
            context |= {"diagnosis": found, "symptoms": [told_symptom(one) for one in found.symptoms]}
    return render(request, "health/diagnose.html", context)


def _diagnosis(data: dict[str, Any]) -> engine.Diagnosis:
    upload = data.get("file")
    if upload is None:
        return engine.diagnose_text(data["text"])
    return engine.diagnose_source(Source.of_bytes(upload.read(), name=upload.name))
