"""Telling the team's automation: announced in the caller's transaction, signed, sent at least once, guarded."""

from __future__ import annotations

import json
import threading
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from django.db import transaction

from apps.core import clock
from apps.core.errors import Conflict, Invalid, Missing, NotAllowed, Stale
from apps.jobs import guarded_http
from apps.jobs.engine import addresses, signing
from apps.jobs.models import Job, WebhookDelivery
from apps.jobs.services import deliveries, webhooks
from tests.callers import actor_for

pytestmark = pytest.mark.django_db


class Receiver(HTTPServer):
    """A CI system of the team: keeps what it gets, and answers as told."""

    status = 200
    location = ""

    def __init__(self) -> None:
        self.got: list[tuple[dict[str, str], str]] = []
        super().__init__(("127.0.0.1", 0), _Answer)

    @property
    def url(self) -> str:
        return f"http://localhost:{self.server_port}/hook"


class _Answer(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.got.append((headers, body))
        self.send_response(self.server.status)
        if self.server.location:
            self.send_header("Location", self.server.location)
        self.end_headers()
        self.wfile.write(b"x" * 100_000)

    def log_message(self, *_arguments: object) -> None:
        """Quiet."""


@pytest.fixture
def receiver(settings):
    settings.WEBHOOK_ALLOW = ["localhost"]
    server = Receiver()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def endpoint(receiver, ada):
    return webhooks.create_endpoint(
        name="CI", url=receiver.url, events=["change.*"], scope_id=None, actor=actor_for(ada)
    )


def test_an_event_arrives_signed_with_a_stable_id(endpoint, receiver, run_jobs):
    assert webhooks.announce("change.approved", {"change": 7}, None) == 1
    run_jobs()
    [(headers, body)] = receiver.got
    message = json.loads(body)
    assert (message["type"], message["data"]) == ("change.approved", {"change": 7})
    assert headers["webhook-id"] == message["id"]
    assert headers["webhook-signature"] == signing.signature(
        secret=endpoint.secret,
        message_id=headers["webhook-id"],
        timestamp_s=int(headers["webhook-timestamp"]),
        body=body,
    )
    delivery = WebhookDelivery.objects.get()
    assert (delivery.state, delivery.last_status, delivery.attempt) == ("delivered", 200, 1)
    assert delivery.next_attempt_at is None


def test_only_who_wants_an_event_of_that_scope_is_told(endpoint, receiver, ada, cluster, other_cluster):
    for scope, events in ((cluster.scope_id, ["*"]), (other_cluster.scope_id, ["*"])):
        webhooks.create_endpoint(
            name="x", url=receiver.url, events=events, scope_id=scope, actor=actor_for(ada)
        )
    assert webhooks.announce("change.approved", {}, cluster.scope_id) == 2
    assert webhooks.announce("drift.opened", {}, cluster.scope_id) == 1
    assert webhooks.announce("drift.opened", {}, None) == 0


def test_an_event_of_a_decision_that_fails_is_never_sent(endpoint):
    with pytest.raises(ValueError), transaction.atomic():
        webhooks.announce("change.approved", {}, None)
        raise ValueError
    assert not WebhookDelivery.objects.exists()
    assert not Job.objects.exists()


def test_a_refused_message_is_sent_again_later_with_the_same_id_and_in_the_end_given_up(
    endpoint, receiver, run_jobs
):
    receiver.status = 500
    webhooks.announce("change.approved", {}, None)
    waits = []
    for _attempt in range(7):
        run_jobs()
        delivery = WebhookDelivery.objects.get()
        if delivery.next_attempt_at is not None:
            waits.append(round((delivery.next_attempt_at - clock.now()).total_seconds()))
            WebhookDelivery.objects.update(next_attempt_at=clock.now() - timedelta(seconds=1))
        deliveries.ask_for_due_deliveries()
    assert waits == [5, 30, 300, 1800, 7200, 21600]
    assert (delivery.state, delivery.attempt, len(delivery.log)) == ("dead", 7, 7)
    assert len({headers["webhook-id"] for headers, _body in receiver.got}) == 1
    assert len(receiver.got) == 7


def test_a_message_that_is_not_due_is_not_sent(endpoint, receiver):
    webhooks.announce("change.approved", {}, None)
    delivery = WebhookDelivery.objects.get()
    assert deliveries.deliver(delivery_id=delivery.pk) is not None
    assert deliveries.deliver(delivery_id=delivery.pk) is None
    assert len(receiver.got) == 1


def test_a_worker_that_died_while_sending_is_replaced(endpoint, receiver, monkeypatch):
    webhooks.announce("change.approved", {}, None)
    delivery = WebhookDelivery.objects.get()

    def die(*_arguments, **_named):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(guarded_http, "post", die)
        with pytest.raises(KeyboardInterrupt):
            deliveries.deliver(delivery_id=delivery.pk)
    assert deliveries.deliver(delivery_id=delivery.pk) is None
    WebhookDelivery.objects.update(next_attempt_at=clock.now() - timedelta(seconds=1))
    made = deliveries.deliver(delivery_id=delivery.pk)
    assert made is not None and made.taken


def test_a_redirect_is_not_followed(endpoint, receiver):
    receiver.status, receiver.location = 302, receiver.url + "/elsewhere"
    webhooks.announce("change.approved", {}, None)
    made = deliveries.deliver(delivery_id=WebhookDelivery.objects.get().pk)
    assert made is not None
    assert (made.status, made.taken, len(receiver.got)) == (302, False, 1)


def test_an_address_that_leads_inside_is_refused_where_it_is_connected(receiver, settings, monkeypatch):
    """The name was public when it was typed in, and resolves to a private address now."""
    settings.WEBHOOK_ALLOW = []
    inside = [(2, 1, 6, "", ("127.0.0.1", receiver.server_port))]
    monkeypatch.setattr(guarded_http.socket, "getaddrinfo", lambda *_a, **_n: inside)
    with pytest.raises(guarded_http.AddressRefused, match=r"127\.0\.0\.1"):
        guarded_http.post(
            f"https://ci.example.com:{receiver.server_port}/",
            body="{}",
            headers={},
            allowed=addresses.AllowList(),
            within_s=5,
        )
    assert receiver.got == []


def test_one_private_address_among_public_ones_refuses_all(monkeypatch):
    both = [(2, 1, 6, "", ("93.184.216.34", 443)), (2, 1, 6, "", ("10.0.0.1", 443))]
    monkeypatch.setattr(guarded_http.socket, "getaddrinfo", lambda *_a, **_n: both)
    with pytest.raises(guarded_http.AddressRefused):
        guarded_http.post(
            "https://ci.example.com/", body="", headers={}, allowed=addresses.AllowList(), within_s=5
        )


def test_plain_http_is_for_hosts_that_are_allowed_by_name(receiver):
    allowed = addresses.allow_list(["127.0.0.0/8"])
    url = f"http://127.0.0.1:{receiver.server_port}/"
    with pytest.raises(guarded_http.AddressRefused, match="plain http"):
        guarded_http.post(url, body="", headers={}, allowed=allowed, within_s=5)


def test_the_whole_exchange_has_one_deadline(receiver):
    allowed = addresses.allow_list(["localhost"])
    with pytest.raises(guarded_http.httpx.TransportError, match="over"):
        guarded_http.post(receiver.url, body="{}", headers={}, allowed=allowed, within_s=0)


def test_only_the_beginning_of_an_answer_is_read(receiver):
    allowed = addresses.allow_list(["localhost"])
    answer = guarded_http.post(receiver.url, body="{}", headers={}, allowed=allowed, within_s=5)
    assert len(answer.content) == guarded_http.READ_AT_MOST_BYTES


@pytest.mark.parametrize(
    "url",
    [
        "http://ci.example.com/",
        "ftp://ci.example.com/",
        "https://u:p@ci.example.com/",
        "https:///x",
        "https://[::1",
        "https://ci.example.com:0/",
        "https://ci.example.com:99999/",
    ],
)
def test_an_odd_address_is_refused_when_it_is_typed_in(ada, url):
    with pytest.raises(Invalid) as refused:
        webhooks.create_endpoint(name="x", url=url, events=["*"], scope_id=None, actor=actor_for(ada))
    assert refused.value.code == "url"


@pytest.mark.parametrize("events", [[], ["Change"], ["change.*.x"], ["a b"]])
def test_odd_patterns_are_refused(ada, events):
    with pytest.raises(Invalid) as refused:
        webhooks.create_endpoint(
            name="x", url="https://ci.example.com/", events=events, scope_id=None, actor=actor_for(ada)
        )
    assert refused.value.code == "events"


def test_administrators_manage_the_endpoints_of_their_scopes_only(ada, bo, eve, cluster, other_cluster):
    def create(actor, scope_id):
        return webhooks.create_endpoint(
            name="x", url="https://ci.example.com/", events=["*"], scope_id=scope_id, actor=actor_for(actor)
        )

    own = create(eve, other_cluster.scope_id)
    everywhere = create(ada, None)
    with pytest.raises(NotAllowed):
        create(bo, cluster.scope_id)
    with pytest.raises(Missing):
        create(eve, cluster.scope_id)
    with pytest.raises(NotAllowed):
        create(eve, None)
    with pytest.raises(Missing):
        webhooks.remove_endpoint(endpoint_id=everywhere.pk, actor=actor_for(eve))
    webhooks.remove_endpoint(endpoint_id=own.pk, actor=actor_for(eve))


def test_a_new_secret_signs_beside_the_old_one_for_a_day(endpoint, receiver, ada):
    old = endpoint.secret
    with pytest.raises(Stale):
        webhooks.rotate_secret(endpoint_id=endpoint.pk, expected_version=9, actor=actor_for(ada))
    rotated = webhooks.rotate_secret(endpoint_id=endpoint.pk, expected_version=1, actor=actor_for(ada))
    assert rotated.secret != old
    assert deliveries._secrets(rotated) == [rotated.secret, old]
    rotated.rotated_at = clock.now() - timedelta(days=2)
    assert deliveries._secrets(rotated) == [rotated.secret]


def test_a_test_message_takes_the_ordinary_way_and_can_be_sent_again(endpoint, receiver, ada, run_jobs):
    delivery = webhooks.send_test(endpoint_id=endpoint.pk, actor=actor_for(ada))
    with pytest.raises(Conflict):
        deliveries.redeliver(delivery_id=delivery.pk, actor=actor_for(ada))
    run_jobs()
    deliveries.redeliver(delivery_id=delivery.pk, actor=actor_for(ada))
    run_jobs()
    assert [headers["webhook-id"] for headers, _body in receiver.got] == [
        f"msg_{delivery.message_id.hex}"
    ] * 2


def test_a_disabled_endpoint_gets_nothing_more(endpoint, receiver, run_jobs):
    webhooks.announce("change.approved", {}, None)
    type(endpoint).objects.update(enabled=False)
    run_jobs()
    assert receiver.got == []
    assert WebhookDelivery.objects.get().state == "dead"
    assert webhooks.announce("change.approved", {}, None) == 0


def test_secrets_stay_out_of_the_audit_trail(endpoint, ada):
    from apps.audit.models import AuditEvent

    assert endpoint.secret not in " ".join(AuditEvent.objects.values_list("body", flat=True))
