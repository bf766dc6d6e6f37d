"""What the API of schedules and webhooks takes and gives."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from apps.jobs.models import Schedule, WebhookDelivery, WebhookEndpoint
from apps.jobs.services.schedules import LONGEST_S, SHORTEST_S


class ScheduleOut(serializers.ModelSerializer[Schedule]):
    class Meta:
        model = Schedule
        fields = ["id", "name", "kind", "every_s", "next_due_at", "enabled", "version"]


class ScheduleIn(serializers.Serializer[Any]):
    every_s = serializers.IntegerField(min_value=SHORTEST_S, max_value=LONGEST_S)
    enabled = serializers.BooleanField()


class EndpointIn(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=120)
    url = serializers.URLField(max_length=500)
    events = serializers.ListField(
        child=serializers.CharField(max_length=80), min_length=1, max_length=50, help_text="change.*, or *"
    )
    enabled = serializers.BooleanField(default=True)


class NewEndpointIn(EndpointIn):
    cluster = serializers.SlugField(allow_null=True, help_text="Null: events of every cluster.")


class EndpointOut(serializers.ModelSerializer[WebhookEndpoint]):
    cluster = serializers.SlugField(source="scope.slug", allow_null=True, default=None)
    events = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = WebhookEndpoint
        fields = ["id", "name", "url", "events", "cluster", "enabled", "created_at", "rotated_at", "version"]


class EndpointWithSecretOut(EndpointOut):
    secret = serializers.CharField(help_text="Shown this once: the key of the signatures.")

    class Meta(EndpointOut.Meta):
        fields = [*EndpointOut.Meta.fields, "secret"]


class AttemptOut(serializers.Serializer[Any]):
    at = serializers.DateTimeField()
    status = serializers.IntegerField(allow_null=True)
    error = serializers.CharField(allow_blank=True)
    duration_s = serializers.FloatField()


class DeliveryOut(serializers.ModelSerializer[WebhookDelivery]):
    message_id = serializers.SerializerMethodField()
    endpoint = serializers.IntegerField(source="endpoint_id")
    state = serializers.ChoiceField(choices=["waiting", "delivered", "dead"])
    attempts = AttemptOut(source="log", many=True)

    class Meta:
        model = WebhookDelivery
        fields = ["id", "message_id", "endpoint", "event", "state", "created_at", "attempt"]
        fields += ["next_attempt_at", "delivered_at", "dead_at", "last_status", "last_error"]
        fields += ["payload", "attempts"]

    def get_message_id(self, delivery: WebhookDelivery) -> str:
        return f"msg_{delivery.message_id.hex}"
