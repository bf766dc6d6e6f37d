"""Tokens: shown once, limited to scopes and clusters, never more than their owner, never a person."""

from __future__ import annotations

from datetime import timedelta

import pytest

from apps.accounts import queries, services
from apps.accounts.models import Token
from apps.audit.models import AuditEvent
from apps.core import clock
from apps.core.errors import Invalid, Missing, NotAllowed, NotSignedIn
from apps.core.rights import Right, Role, TokenScope
from tests import factories
from tests.callers import actor_for

pytestmark = pytest.mark.django_db
READ = [TokenScope.READ]


def make(owner, actor=None, **values):
    wanted = {"name": "nightly", "scopes": READ, "cluster_scope_ids": None} | values
    return services.create_token(person_id=owner.pk, actor=actor_for(actor or owner), **wanted)


def test_a_token_is_known_by_its_text_and_kept_as_a_keyed_hash(bo):
    token, bearer = make(bo)
    prefix, _, secret = bearer.partition(".")
    assert (prefix, len(token.key), len(secret)) == (f"snp_{token.key}", 12, 40)
    assert queries.token_behind(bearer, now=clock.now()) == token
    stored = " ".join(str(getattr(token, field.name)) for field in Token._meta.fields)
    assert secret not in stored
    assert secret not in " ".join(AuditEvent.objects.values_list("body", flat=True))
    assert token.expires_at - clock.now() > timedelta(days=89)


@pytest.mark.parametrize("spoil", ["snp_", "", "Basic x", "snp_aaaaaaaaaaaa." + "b" * 40])
def test_what_is_no_token_is_not_known(spoil, bo):
    with pytest.raises(NotSignedIn) as refused:
        queries.token_behind(spoil, now=clock.now())
    assert refused.value.code == "token_unknown"


def test_a_wrong_secret_under_a_right_key_is_refused_with_the_same_words(bo):
    _token, bearer = make(bo)
    with pytest.raises(NotSignedIn) as refused:
        queries.token_behind(bearer[:-1] + ("a" if bearer[-1] != "a" else "b"), now=clock.now())
    assert refused.value.code == "token_unknown"


def test_an_expired_and_a_revoked_token_are_refused(bo, api):
    expired = factories.bearer(bo, expires_in=timedelta(seconds=-1))
    answer = api(expired).get("/api/v1/auth-check/")
    assert (answer.status_code, answer.json()["code"]) == (401, "token_expired")
    assert answer["WWW-Authenticate"].startswith("Bearer")
    token, bearer = make(bo)
    services.revoke_token(token_id=token.pk, actor=actor_for(bo))
    assert api(bearer).get("/api/v1/auth-check/").json()["code"] == "token_revoked"


def test_a_token_of_a_removed_pepper_is_not_known(bo, settings):
    _token, bearer = make(bo)
    settings.TOKEN_PEPPERS = {2: "another pepper, long enough to be one of ours"}
    with pytest.raises(NotSignedIn):
        queries.token_behind(bearer, now=clock.now())
    token, bearer = make(bo)
    assert token.pepper == 2
    assert queries.token_behind(bearer, now=clock.now()) == token


def test_a_token_may_what_its_scopes_and_its_owner_may(bo, vic, cluster):
    def rights(owner, *scopes: TokenScope):
        token, _bearer = make(owner, scopes=list(scopes))
        return queries.rights_of_token(token).get(cluster.scope_id, frozenset())

    assert rights(bo, TokenScope.READ) == {Right.READ}
    assert rights(bo, TokenScope.FLEET_WRITE) == {Right.READ, Right.OPERATE}
    assert rights(vic, TokenScope.FLEET_WRITE) == {Right.READ}


def test_no_token_approves_signs_or_administrates(ada, cluster):
    factories.grant(ada, Role.APPROVER)
    factories.grant(ada, Role.SIGNER)
    token, _bearer = make(ada, scopes=list(TokenScope))
    held = frozenset().union(*queries.rights_of_token(token).values())
    assert held == {Right.READ, Right.OPERATE, Right.AUDIT}


def test_a_token_is_limited_to_its_clusters(ada, cluster, other_cluster, api):
    token, bearer = make(ada, cluster_scope_ids=[cluster.scope_id])
    assert set(queries.rights_of_token(token)) == {cluster.scope_id}
    checked = api(bearer).get("/api/v1/auth-check/").json()
    assert checked["rights"] == {"hall-1": ["read"]}
    assert checked["scopes"] == ["read"]
    assert checked["expires_at"] is not None


def test_nobody_makes_a_token_for_a_cluster_that_they_do_not_see(bo, other_cluster):
    with pytest.raises(Missing):
        make(bo, cluster_scope_ids=[other_cluster.scope_id])


def test_people_make_their_own_tokens_and_managers_those_of_service_accounts(ada, bo, eve, cluster):
    account = services.create_service_account(
        name="ci", role=Role.OPERATOR, scope_id=cluster.scope_id, actor=actor_for(ada)
    )
    make(account, ada)
    with pytest.raises(NotAllowed) as refused:
        make(bo, ada)
    assert refused.value.code == "not_yours"
    with pytest.raises(Missing):
        make(account, eve)
    with pytest.raises(NotAllowed):
        make(account, bo)


@pytest.mark.parametrize(
    ("field", "value"), [("name", ""), ("name", "x" * 121), ("scopes", []), ("days", 0), ("days", 366)]
)
def test_odd_tokens_are_refused_at_their_field(bo, field, value):
    with pytest.raises(Invalid) as refused:
        make(bo, **{field: value})
    assert refused.value.errors[0].pointer == f"/{field}"


def test_a_token_for_no_cluster_at_all_is_refused_with_what_to_say_instead(bo, api):
    answer = api(bo).post("/api/v1/tokens/", {"name": "x", "scopes": ["read"], "clusters": []})
    (error,) = answer.json()["errors"]
    assert (answer.status_code, error["pointer"]) == (400, "/clusters")
    assert "null is every cluster" in error["message"]
    assert not Token.objects.exists()


def test_a_token_neither_makes_nor_revokes_tokens(ada, api):
    token, bearer = make(ada, scopes=list(TokenScope))
    body = {"name": "x", "scopes": ["read"], "clusters": None}
    for answer in (
        api(bearer).post("/api/v1/tokens/", body),
        api(bearer).delete(f"/api/v1/tokens/{token.pk}/"),
        api(bearer).post("/api/v1/service-accounts/", {"name": "x", "role": "viewer", "cluster": None}),
    ):
        assert (answer.status_code, answer.json()["code"]) == (403, "person_required")


def test_a_person_sees_their_own_tokens_and_administrators_all(ada, bo, vic, api):
    make(bo)
    make(vic)
    assert len(api(vic).get("/api/v1/tokens/").json()["results"]) == 1
    assert len(api(ada).get("/api/v1/tokens/").json()["results"]) == 2


def test_the_day_of_the_last_use_is_written_once_a_day(bo, api, count_queries):
    _token, bearer = make(bo)
    api(bearer).get("/api/v1/auth-check/")
    assert Token.objects.get().last_used_on == clock.now().date()
    token = Token.objects.get()
    assert count_queries(lambda: services.note_use(token, now=clock.now())) == 0


def test_a_bearer_token_is_for_the_api_only(bo, api):
    answer = api(factories.bearer(bo)).get("/tokens/")
    assert answer.status_code == 302
    assert answer["Location"].startswith("/sign-in/")


def test_a_new_token_is_shown_on_the_page_once(bo, client_of):
    browser = client_of(bo)
    made = browser.post(f"/people/{bo.pk}/tokens/new/", {"name": "nightly", "scopes": ["read"], "days": "30"})
    token = Token.objects.get()
    assert f"snp_{token.key}." in made.content.decode()
    assert f"snp_{token.key}." not in browser.get("/tokens/").content.decode()
    assert "no-store" in made["Cache-Control"]
