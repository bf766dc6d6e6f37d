"""API addresses of this app, under /api/v1/."""

from __future__ import annotations

from django.urls import path

from apps.accounts.api import views

urlpatterns = [
    path("people/", views.People.as_view(), name="people"),
    path("people/<int:person_id>/", views.OnePerson.as_view(), name="person"),
    path("people/<int:person_id>/leave/", views.Leave.as_view(), name="leave"),
    path("people/<int:person_id>/erase/", views.Erase.as_view(), name="erase"),
    path("service-accounts/", views.ServiceAccounts.as_view(), name="service_accounts"),
    path("role-grants/", views.Grants.as_view(), name="role_grants"),
    path("role-grants/<int:grant_id>/", views.OneGrant.as_view(), name="role_grant"),
    path("tokens/", views.Tokens.as_view(), name="tokens"),
    path("tokens/<int:token_id>/", views.OneToken.as_view(), name="token"),
    path("invitations/", views.Invitations.as_view(), name="invitations"),
    path("invitations/<int:invitation_id>/", views.OneInvitation.as_view(), name="invitation"),
    path("preferences/", views.Preferences.as_view(), name="preferences"),
    path("auth-check/", views.AuthCheck.as_view(), name="auth_check"),
]
