"""What the API of the intake takes and gives."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

DIGESTS_AT_ONCE = 500


class DigestsIn(serializers.Serializer[Any]):
    digests = serializers.ListField(
        child=serializers.RegexField(r"^[0-9a-f]{64}$", help_text="SHA-256 of the bytes, lower-case hex."),
        min_length=1,
        max_length=DIGESTS_AT_ONCE,
    )


class DigestsOut(serializers.Serializer[Any]):
    known = serializers.ListField(
        child=serializers.CharField(), help_text="These need not be sent: deliver them by ?sha256=."
    )
    limit_bytes = serializers.IntegerField(help_text="Larger files are refused.")


class SaidIn(serializers.Serializer[Any]):
    """A report of bytes that were handed in before."""

    sha256 = serializers.RegexField(r"^[0-9a-f]{64}$")
    node = serializers.CharField(max_length=255)
    file_name = serializers.CharField(max_length=255, required=False, allow_blank=True, default="")
    collected_at = serializers.DateTimeField(required=False, allow_null=True, default=None)


class UnchangedIn(serializers.Serializer[Any]):
    reports = SaidIn(many=True, allow_empty=False, max_length=DIGESTS_AT_ONCE, help_text="Oldest first.")


class UnchangedOut(serializers.Serializer[Any]):
    receipts = serializers.ListField(
        child=serializers.IntegerField(allow_null=True),
        help_text="In the order of the reports: where each was counted; null where it has to be delivered.",
    )


class NodeIn(serializers.Serializer[Any]):
    node = serializers.CharField(max_length=255, help_text="The node or domain that the delivery is about.")
