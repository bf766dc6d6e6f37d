"""The OpenAPI document: problem documents on every operation, and only what lies under /api/v1/."""

from __future__ import annotations

from typing import Any

from drf_spectacular.openapi import AutoSchema

_PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "code", "detail", "request_id"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string"},
        "detail": {"type": "string"},
        "request_id": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["pointer", "code", "message"],
                "properties": {name: {"type": "string"} for name in ("pointer", "code", "message")},
            },
        },
    },
}


class PortalSchema(AutoSchema):
    """Adds the problem document as the default answer of each operation."""

    def _get_response_bodies(self, direction: str = "response") -> Any:
        bodies = super()._get_response_bodies(direction)
        bodies["default"] = {
            "description": "A problem document (RFC 9457)",
            "content": {"application/problem+json": {"schema": _PROBLEM}},
        }
        return bodies


def only_api_paths(endpoints: Any) -> Any:
    """drf-spectacular's hook: pages are no operations."""
    return [item for item in endpoints if item[0].startswith("/api/v1/")]


def plain_any(result: dict[str, Any], **_context: Any) -> dict[str, Any]:
    """drf-spectacular's hook: "any value or null" is any value; as "one of both" null would fit twice."""
    _simplify(result)
    return result


def only_known_fields(result: dict[str, Any], **_context: Any) -> dict[str, Any]:
    """drf-spectacular's hook: a body with fields that are not known is refused (apps.core.api.checked)."""
    components = result.get("components", {}).get("schemas", {})
    for name, shape in components.items():
        if name.endswith("Request") and shape.get("type") == "object" and "properties" in shape:
            shape.setdefault("additionalProperties", False)
    return result


def _simplify(node: Any) -> None:
    if isinstance(node, dict):
        if node.get("oneOf") == [{}, {"type": "null"}]:
            del node["oneOf"]
        for value in node.values():
            _simplify(value)
    elif isinstance(node, list):
        for value in node:
            _simplify(value)
