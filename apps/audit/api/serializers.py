"""What the API of the audit trail gives."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class ActorOut(serializers.Serializer[Any]):
    id = serializers.IntegerField(allow_null=True)
    name = serializers.CharField()
    via = serializers.CharField()
    token_key = serializers.CharField(allow_blank=True)
    token_scopes = serializers.ListField(child=serializers.CharField(), allow_null=True)
    ip = serializers.CharField(allow_blank=True)
    user_agent = serializers.CharField(allow_blank=True)


class ObjectOut(serializers.Serializer[Any]):
    type = serializers.CharField()
    id = serializers.CharField()
    label = serializers.CharField()


class ScopeOut(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    name = serializers.CharField()


class EventOut(serializers.Serializer[Any]):
    seq = serializers.IntegerField()
    at = serializers.DateTimeField()
    action = serializers.CharField()
    actor = ActorOut()
    object = ObjectOut()
    scope = ScopeOut(allow_null=True)
    request_id = serializers.CharField(allow_blank=True)
    before = serializers.JSONField(allow_null=True)
    after = serializers.JSONField(allow_null=True)
    reason = serializers.CharField(allow_blank=True)
    details = serializers.JSONField()
    prev_hash = serializers.CharField()
    hash = serializers.CharField()
    body = serializers.CharField(help_text="The exact text that the hash covers.")


class HeadOut(serializers.Serializer[Any]):
    seq = serializers.IntegerField()
    hash = serializers.CharField()
    public_key = serializers.CharField(
        allow_blank=True, help_text="Ed25519, base64: checks the signatures of checkpoints."
    )
