"""Page addresses of this app."""

from __future__ import annotations

from django.urls import path

from apps.accounts.views import own, people, session

app_name = "accounts"
urlpatterns = [
    path("sign-in/", session.sign_in, name="sign_in"),
    path("sign-out/", session.sign_out, name="sign_out"),
    path("confirm-password/", session.reauthenticate, name="reauthenticate"),
    path("invitation/<str:secret>/", session.accept_invitation, name="accept_invitation"),
    path("preferences/", own.preferences, name="preferences"),
    path("preferences/password/", own.change_password, name="change_password"),
    path("tokens/", own.tokens, name="tokens"),
    path("tokens/<int:token_id>/revoke/", own.revoke_token, name="revoke_token"),
    path("people/", people.people, name="people"),
    path("people/invite/", people.invite, name="invite"),
    path("people/role/", people.grant_by_email, name="grant_by_email"),
    path("people/service-account/", people.create_service_account, name="create_service_account"),
    path("people/<int:person_id>/", people.person, name="person"),
    path("people/<int:person_id>/role/", people.grant, name="grant"),
    path("people/<int:person_id>/leave/", people.leave, name="leave"),
    path("people/<int:person_id>/tokens/", own.person_tokens, name="person_tokens"),
    path("people/<int:person_id>/tokens/new/", own.create_token, name="create_token"),
    path("people/role/<int:grant_id>/revoke/", people.revoke, name="revoke"),
    path("invitations/<int:invitation_id>/revoke/", people.revoke_invitation, name="revoke_invitation"),
]
