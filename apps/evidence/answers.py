"""How the API of this and other apps answers with a delivery."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.core.errors import Invalid, PortalError, TooLarge
from apps.evidence.models import KeepPolicy, Receipt, ReceiptState
from apps.evidence.services.policy import LONGEST_DAYS
from apps.evidence.words import ASKS_A_PERSON, effect_name, unmatched_reason
from apps.jobs.answers import address_of


class RefusalOut(serializers.Serializer[Any]):
    code = serializers.CharField()
    detail = serializers.CharField()


class WarningOut(serializers.Serializer[Any]):
    code = serializers.CharField()
    message = serializers.CharField()
    line = serializers.IntegerField(allow_null=True)
    text = serializers.CharField(allow_blank=True)


class ReadingOut(serializers.Serializer[Any]):
    kind = serializers.CharField()
    parser_version = serializers.IntegerField()
    read_at = serializers.DateTimeField()
    facts = serializers.DictField()
    warnings = WarningOut(many=True)


class ReceiptOut(serializers.Serializer[Receipt]):
    """A delivery: what came in, and what became of it."""

    # Written out: a ModelSerializer makes its fields of the model anew for each answer to a node's report.
    id = serializers.IntegerField()
    url = serializers.SerializerMethodField()
    html_url = serializers.SerializerMethodField()
    cluster = serializers.SlugField(source="scope.slug")
    state = serializers.ChoiceField(choices=ReceiptState.choices)
    kind = serializers.CharField(allow_blank=True)
    node = serializers.CharField(source="node_name", allow_blank=True)
    file_name = serializers.CharField(allow_blank=True)
    sha256 = serializers.CharField()
    size_bytes = serializers.IntegerField()
    received_at = serializers.DateTimeField()
    collected_at = serializers.DateTimeField(allow_null=True)
    repeated = serializers.BooleanField()
    times = serializers.IntegerField()
    last_received_at = serializers.DateTimeField(allow_null=True)
    by = serializers.IntegerField(source="person_id", allow_null=True)
    via = serializers.CharField()
    refusal = serializers.SerializerMethodField()
    effects = serializers.SerializerMethodField(
        help_text="What followed, each with what and label; html_url is the page of the run that it is about, or "
        "that compares the file with the fleet, and to_do what a person has to do there."
    )
    unmatched_reason = serializers.SerializerMethodField(
        help_text="Where the state is unmatched: why, so that it can be handed in again for the right node or domain."
    )
    warning_count = serializers.IntegerField(
        help_text="Warnings of its reading; above 0 it may not say all, such as a file that was cut."
    )
    older_than = serializers.DateTimeField(
        allow_null=True,
        help_text="When what is on record was collected, where this is older: it is kept and changes nothing.",
    )
    job = serializers.SerializerMethodField()

    def get_url(self, receipt: Receipt) -> str:
        return reverse("api_evidence:receipt", args=[receipt.pk])

    def get_html_url(self, receipt: Receipt) -> str:
        return self._absolute(reverse("evidence:receipt", args=[receipt.pk]))

    @extend_schema_field(RefusalOut(allow_null=True))
    def get_refusal(self, receipt: Receipt) -> dict[str, str] | None:
        if receipt.state != ReceiptState.REFUSED:
            return None
        return {"code": receipt.refusal_code, "detail": receipt.refusal}

    def get_unmatched_reason(self, receipt: Receipt) -> str | None:
        return str(unmatched_reason(receipt)) if receipt.state == ReceiptState.UNMATCHED else None

    @extend_schema_field(serializers.ListField(child=serializers.DictField(child=serializers.CharField())))
    def get_effects(self, receipt: Receipt) -> list[dict[str, str]]:
        return [self._effect(effect, receipt) for effect in receipt.effects]

    def _effect(self, effect: dict[str, str], receipt: Receipt) -> dict[str, str]:
        told = dict(effect)
        if "run" in effect:
            told["html_url"] = self._absolute(reverse("benchmarks:run", args=[effect["run"]]))
        if "topology" in effect:
            address = reverse("fleet:compare_file", args=[receipt.scope.slug, receipt.pk])
            told["html_url"] = self._absolute(address)
        if effect["what"] in ASKS_A_PERSON:
            told["to_do"] = str(effect_name(effect["what"]))
        return told

    def _absolute(self, address: str) -> str:
        request = self.context.get("request")
        return request.build_absolute_uri(address) if request else address

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_job(self, receipt: Receipt) -> str | None:
        return address_of(receipt.job) if receipt.job is not None else None


class ReceiptWithReadingOut(ReceiptOut):
    """A delivery with what was read from it."""

    reading = ReadingOut(allow_null=True)


class KeepPolicyOut(serializers.ModelSerializer[KeepPolicy]):
    """For how many days a cluster keeps raw bytes that nothing rests on; 0 is for good."""

    cluster = serializers.SlugField(source="scope.slug")
    keep_days = serializers.IntegerField(allow_null=True, help_text="Null: the portal's setting holds.")
    kinds = serializers.DictField(child=serializers.IntegerField(), help_text="Kind to its own number.")
    portal_days = serializers.SerializerMethodField(help_text="The portal's setting.")
    version = serializers.IntegerField(help_text="0: nothing was set.")

    class Meta:
        model = KeepPolicy
        fields = ["cluster", "keep_days", "kinds", "portal_days", "version"]

    def get_portal_days(self, _policy: KeepPolicy) -> int:
        return int(settings.EVIDENCE_KEEP_DAYS)


class KeepPolicyIn(serializers.Serializer[Any]):
    keep_days = serializers.IntegerField(
        allow_null=True, min_value=0, max_value=LONGEST_DAYS, help_text="Null: the portal's setting holds."
    )
    kinds = serializers.DictField(
        child=serializers.IntegerField(min_value=0, max_value=LONGEST_DAYS), required=False, default=dict
    )


def refusal_of(receipt: Receipt) -> PortalError:
    """The error that answers a refused delivery; it carries the receipt's id."""
    wrong = TooLarge if receipt.refusal_code == TooLarge.default_code else Invalid
    return wrong(receipt.refusal, code=receipt.refusal_code, receipt=receipt.pk)
