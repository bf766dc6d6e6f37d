"""Pages of webhooks: endpoints, their secrets, deliveries."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from apps.core import form_errors
from apps.core.administration import tabs
from apps.core.errors import Conflict, Invalid, NotAllowed
from apps.core.filtering import refuse_unknown
from apps.core.pages import actor_of, version_in
from apps.core.paging import page_of
from apps.jobs import forms, queries
from apps.jobs.filters import DeliveryFilter
from apps.jobs.services import deliveries as sending
from apps.jobs.services import webhooks as service


def endpoints(request: HttpRequest) -> HttpResponse:
    """Addresses of the team's automation."""
    actor = actor_of(request)
    return _endpoints_page(request, forms.NewEndpointForm(actor=actor))


@never_cache
@require_POST
def create(request: HttpRequest) -> HttpResponse:
    """Add an address, and show its secret this once."""
    actor = actor_of(request)
    form = forms.NewEndpointForm(request.POST, actor=actor)
    if form.is_valid():
        values = form.cleaned_data
        try:
            endpoint = service.create_endpoint(
                name=values["name"],
                url=values["url"],
                events=values["events"],
                scope_id=form.cleaned_data["scope"],
                actor=actor,
            )
        except (Invalid, Conflict, NotAllowed) as error:
            form_errors.show(form, error)
        else:
            return render(request, "jobs/webhook_secret.html", {"endpoint": endpoint})
    return _endpoints_page(request, form, status=400)


def endpoint(request: HttpRequest, endpoint_id: int) -> HttpResponse:
    """One address: what it is told, what was delivered, and changing it."""
    actor = actor_of(request)
    found = queries.endpoint(endpoint_id, actor=actor)
    initial = {
        "name": found.name,
        "url": found.url,
        "events": " ".join(found.events),
        "enabled": found.enabled,
        "version": found.version,
    }
    form = forms.EndpointForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        values = dict(form.cleaned_data)
        try:
            service.change_endpoint(
                endpoint_id=endpoint_id, expected_version=values.pop("version"), **values, actor=actor
            )
        except Invalid as error:
            form_errors.show(form, error)
        else:
            messages.success(request, _("The webhook is changed."))
            return redirect("jobs:webhook", endpoint_id)
    context = {"endpoint": found, "form": form, **_deliveries(request, endpoint_id)}
    return render(request, "jobs/webhook.html", context)


@never_cache
@require_POST
def rotate(request: HttpRequest, endpoint_id: int) -> HttpResponse:
    """Give a new secret, and show it this once."""
    endpoint = service.rotate_secret(
        endpoint_id=endpoint_id, expected_version=version_in(request), actor=actor_of(request)
    )
    return render(request, "jobs/webhook_secret.html", {"endpoint": endpoint, "rotated": True})


@require_POST
def test(request: HttpRequest, endpoint_id: int) -> HttpResponse:
    """Send a test message."""
    service.send_test(endpoint_id=endpoint_id, actor=actor_of(request))
    messages.success(request, _("A test message is on its way; reload the page to see what became of it."))
    return redirect("jobs:webhook", endpoint_id)


@require_POST
def remove(request: HttpRequest, endpoint_id: int) -> HttpResponse:
    """Remove an address."""
    service.remove_endpoint(endpoint_id=endpoint_id, actor=actor_of(request))
    messages.success(request, _("The webhook is removed."))
    return redirect("jobs:webhooks")


@require_POST
def redeliver(request: HttpRequest, delivery_id: int) -> HttpResponse:
    """Send a message again."""
    delivery = sending.redeliver(delivery_id=delivery_id, actor=actor_of(request))
    messages.success(request, _("The message is sent again."))
    return redirect("jobs:webhook", delivery.endpoint_id)


def _endpoints_page(request: HttpRequest, form: forms.NewEndpointForm, *, status: int = 200) -> HttpResponse:
    actor = actor_of(request)
    context = {
        "endpoints": queries.endpoints_visible_to(actor),
        "form": form,
        "administration": tabs(actor),
    }
    return render(request, "jobs/webhooks.html", context, status=status)


def _deliveries(request: HttpRequest, endpoint_id: int) -> dict[str, object]:
    refuse_unknown(DeliveryFilter, request.GET)
    rows = queries.deliveries_visible_to(actor_of(request)).filter(endpoint_id=endpoint_id)
    found = DeliveryFilter(request.GET, queryset=rows)
    return {"page": page_of(request, found.qs, size=25)}
