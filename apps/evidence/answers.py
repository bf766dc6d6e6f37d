"""How the API of this and other apps answers with a delivery."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.core.errors import Invalid, PortalError, TooLarge
from apps.evidence.models import Receipt, ReceiptState
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


class ReceiptOut(serializers.ModelSerializer[Receipt]):
    """A delivery: what came in, and what became of it."""

    url = serializers.SerializerMethodField()
    html_url = serializers.SerializerMethodField()
    cluster = serializers.SlugField(source="scope.slug")
    state = serializers.ChoiceField(choices=ReceiptState.choices)
    node = serializers.CharField(source="node_name", allow_blank=True)
    by = serializers.IntegerField(source="person_id", allow_null=True)
    refusal = serializers.SerializerMethodField()
    effects = serializers.ListField(child=serializers.DictField(child=serializers.CharField()))
    job = serializers.SerializerMethodField()

    class Meta:
        model = Receipt
        fields = ["id", "url", "html_url", "cluster", "state", "kind", "node", "file_name", "sha256"]
        fields += ["size_bytes", "received_at", "collected_at", "repeated", "by", "via", "refusal"]
        fields += ["effects", "job"]

    def get_url(self, receipt: Receipt) -> str:
        return reverse("api_evidence:receipt", args=[receipt.pk])

    def get_html_url(self, receipt: Receipt) -> str:
        address = reverse("evidence:receipt", args=[receipt.pk])
        request = self.context.get("request")
        return request.build_absolute_uri(address) if request else address

    @extend_schema_field(RefusalOut(allow_null=True))
    def get_refusal(self, receipt: Receipt) -> dict[str, str] | None:
        if receipt.state != ReceiptState.REFUSED:
            return None
        return {"code": receipt.refusal_code, "detail": receipt.refusal}

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_job(self, receipt: Receipt) -> str | None:
        return address_of(receipt.job) if receipt.job is not None else None


class ReceiptWithReadingOut(ReceiptOut):
    """A delivery with what was read from it."""

    reading = ReadingOut(allow_null=True)

    class Meta(ReceiptOut.Meta):
        fields = [*ReceiptOut.Meta.fields, "reading"]


def refusal_of(receipt: Receipt) -> PortalError:
    """The error that answers a refused delivery; it carries the receipt's id."""
    wrong = TooLarge if receipt.refusal_code == TooLarge.default_code else Invalid
    return wrong(receipt.refusal, code=receipt.refusal_code, receipt=receipt.pk)
