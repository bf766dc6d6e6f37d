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


class NodeIn(serializers.Serializer[Any]):
    node = serializers.CharField(max_length=255, help_text="The node or domain that the delivery is about.")
