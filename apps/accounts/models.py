"""People and service accounts, their roles in scopes, tokens, invitations, and counters of attempts."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.core.rights import Role, TokenScope
from apps.core.role_names import ROLE_NAMES


class Scope(models.Model):
    """Where roles hold: each cluster stands one-to-one on a scope of its own."""

    slug = models.SlugField(max_length=64, unique=True)
    name = models.CharField(max_length=120)

    def __str__(self) -> str:
        return self.name


class PersonKind(models.TextChoices):
    PERSON = "person", _("person")
    SERVICE = "service", _("service account")


class PersonManager(BaseUserManager["Person"]):
    def get_by_natural_key(self, username: str | None) -> Person:
        return self.get(email=(username or "").strip().lower())

    def create_user(self, email: str, name: str, password: str | None = None, **fields: Any) -> Person:
        person = self.model(email=email.strip().lower(), name=name.strip(), **fields)
        person.set_password(password)
        person.save(using=self._db)
        return person

    def create_superuser(self, email: str, name: str, password: str | None = None, **fields: Any) -> Person:
        return self.create_user(email, name, password, is_superuser=True, **fields)


class Person(AbstractBaseUser):
    """Somebody who signs in, or a service account that only acts by tokens.

    Inactive means left: the row stays, because history points at it.
    """

    email = models.EmailField(_("email"), unique=True)
    name = models.CharField(_("name"), max_length=120)
    kind = models.CharField(max_length=10, choices=PersonKind.choices, default=PersonKind.PERSON)
    is_active = models.BooleanField(default=True)
    is_superuser = models.BooleanField(default=False)
    left_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    language = models.CharField(_("language"), max_length=10, blank=True)
    time_zone = models.CharField(_("time zone"), max_length=64, blank=True)
    shortcuts = models.BooleanField(_("keyboard shortcuts"), default=True)

    objects = PersonManager()
    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def audit_label(self) -> str:
        """The trail holds no names, so that a name can be erased."""
        return f"{self.kind} {self.pk}"


class RoleGrant(models.Model):
    """A person has a role in a scope, or everywhere (scope is null)."""

    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="grants")
    role = models.CharField(max_length=10, choices=[(role.value, role.value) for role in Role])
    scope = models.ForeignKey(Scope, on_delete=models.CASCADE, null=True, related_name="+")
    granted_by = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    granted_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["person", "role", "scope"], name="accounts_grant_once"),
            models.UniqueConstraint(
                fields=["person", "role"],
                condition=models.Q(scope__isnull=True),
                name="accounts_grant_everywhere_once",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.role} of {self.person_id}"

    @property
    def role_name(self) -> str | Promise:
        return ROLE_NAMES[Role(self.role)]


class Token(models.Model):
    """An API token: the key names it, the secret is known only as a keyed hash, and shown once."""

    key = models.CharField(max_length=12, unique=True)
    secret_hash = models.CharField(max_length=64)
    pepper = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=120)
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="tokens")
    scopes = models.JSONField(default=list)
    clusters = models.ManyToManyField(Scope, related_name="+")
    all_clusters = models.BooleanField(default=False)
    created_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)
    last_used_on = models.DateField(null=True)

    def __str__(self) -> str:
        return f"{self.name} (snp_{self.key})"

    @property
    def token_scopes(self) -> frozenset[TokenScope]:
        return frozenset(TokenScope(scope) for scope in self.scopes)


class Invitation(models.Model):
    """Somebody was asked to join; the link's secret is known only as a hash and works once."""

    email = models.EmailField()
    name = models.CharField(max_length=120)
    roles = models.JSONField(default=list)  # [{"role": …, "scope_id": … or null}]
    secret_hash = models.CharField(max_length=64, unique=True)
    invited_by = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    accepted_by = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    accepted_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"invitation {self.pk}"


class RateWindow(models.Model):
    """How often something was tried in one window of time, counted by conditional update."""

    bucket = models.CharField(max_length=120)
    window = models.BigIntegerField()
    count = models.PositiveIntegerField(default=0)
    ends_at_s = models.BigIntegerField(default=0, db_index=True)  # seconds since 1970

    class Meta:
        constraints = [models.UniqueConstraint(fields=["bucket", "window"], name="accounts_rate_once")]

    def __str__(self) -> str:
        return f"{self.bucket}: {self.count}"
