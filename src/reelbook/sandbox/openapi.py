"""The service's interface as an OpenAPI document, built from the tables that read requests and write answers.

`NOT_SHOWN` lists what the interface leaves open, what is done here, and which switch changes it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from .. import wire
from ..web.payloads import DAYS, IMAGE, NAME, RATE_LIMIT, TEXT, Parameter, fields_of, object_schema

OPENAPI: Final = "/openapi.json"

NOT_SHOWN: Final = (
    ("agent tools: names and arguments", "as its tool server lists them", ""),
    ("progress: bounds", "0 to 99", ""),
    ("a key's name: constraints; whether it is required", "required, 1 to 100 characters", ""),
    ("rate_limit: whether it may be omitted", f"it may: {wire.DEFAULT_REQUESTS_PER_MINUTE}", ""),
    ("last_used of a key never used", "null", ""),
    (
        "transitions between states",
        "pending, processing, then completed or failed",
        "pace, fault unknown_status",
    ),
    ("whether a failed job is charged", "it isn't", "fail_next"),
    ("is_active of a revoked key", "false; it stays listed", ""),
    ("days: default and bounds", f"{DAYS.default}; {DAYS.least} to {DAYS.most:g}", ""),
    ("how a period of days is counted", "windows of 24 hours up to now", "usage_days"),
    ("paging and filtering of keys", "none: all are listed", ""),
    ("scopes of keys, and their expiry", "every key may do everything, until it is revoked", ""),
    ("events", "none: the status is asked for", ""),
    ("bodies of errors other than 402", "{detail: string}, as of 402", "fault html, broken_json"),
    ("an unknown request_id or key_id", "404", "fault not_found"),
    ("what yields 400", "each request below says what it takes", ""),
    ("X-RateLimit-Reset: unit", "seconds to wait", "reset_unit"),
    ("the window of a rate limit", "the last 60 s", "limit_window, count_refused, limit_headers"),
    ("maximum size of an image", "10 MiB", "max_image_bytes"),
    ("maximum length of a prompt", "2000 characters", ""),
    ("how long clips are kept", "7 days", "fault expired_link"),
    ("version by header, deprecation", "none", ""),
)

BALANCE_FIELDS: Final = {"balance_usd": "number", "total_spent_usd": "number"}
USAGE_FIELDS: Final = {
    "period_days": "integer",
    "total_requests": "integer",
    "total_seconds": "number",
    "total_cost_usd": "number",
    "current_balance_usd": "number",
    "total_spent_usd": "number",
}
_KEY: Final = {"key_id": "string", "name": "string", "rate_limit": "integer", "created_at": "string"}
_REVOKED: Final = {"message": "string", "key_id": "string"}
ACCEPTED_FIELDS: Final = {
    "request_id": "string",
    "status": "string",
    "estimated_cost_usd": "number",
    "estimated_duration_seconds": "number",
}
_ERRORS: Final = {
    400: "The request isn't valid",
    401: "The API key isn't valid",
    402: "The balance is lower than the cost",
    404: "There is no such id",
    413: "The request is too large",
    429: "The key's requests of this minute are used up",
}


def document(version: str) -> dict[str, Any]:
    """The interface as the sandbox speaks it."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Video generation, as the sandbox has it",
            "version": version,
            "x-not-shown": [
                {"what": what, "here": here, **({"switch": switch} if switch else {})}
                for what, here, switch in NOT_SHOWN
            ],
        },
        "security": [{"key": []}],
        "paths": PATHS,
        "components": {"securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}},
    }


def _submission(mode: wire.Mode) -> dict[str, Any]:
    body, kind = object_schema(*fields_of(mode)), "application/json"
    if mode == IMAGE:
        image = {"type": "string", "format": "binary", "description": "A JPEG or PNG file."}
        body, kind = object_schema(*fields_of(mode), image=image), "multipart/form-data"
    operation = _operation(mode, f"Orders a clip: {mode}", _object(ACCEPTED_FIELDS), errors=(400, 402, 413))
    return {**operation, "requestBody": {"required": True, "content": {kind: {"schema": body}}}}


def _status() -> dict[str, Any]:
    states = (
        _object({"request_id": "string", **fields}, {"status": {"const": state}})
        for state, fields in wire.STATUS_FIELDS.items()
    )
    return {"oneOf": [{**state, "additionalProperties": False} for state in states]}


def _list_keys() -> dict[str, Any]:
    listing = {"is_active": "boolean", "key_preview": "string"}
    key = _object({**_KEY, **listing}, {"last_used": {"type": ["string", "null"]}})
    keys = _object({"count": "integer"}, {"api_keys": {"type": "array", "items": key}})
    return _operation("list-keys", "All keys, without the keys themselves", keys)


def _create_key() -> dict[str, Any]:
    body = object_schema(NAME, RATE_LIMIT)
    made = _object({**_KEY, "api_key": "string"})
    operation = _operation("create-key", "Makes a key, and shows it this once", made, errors=(400, 413))
    return {**operation, "requestBody": {"required": True, "content": {"application/json": {"schema": body}}}}


def _operation(
    name: str,
    summary: str,
    answer: dict[str, Any],
    parameters: Sequence[dict[str, Any]] = (),
    *,
    errors: Sequence[int] = (),
) -> dict[str, Any]:
    limits = (wire.RATE_LIMIT, wire.RATE_REMAINING, wire.RATE_RESET)
    headers = {name: {"schema": {"type": "integer"}} for name in limits}
    said = {"application/json": {"schema": _object({"detail": "string"})}}
    refused = {
        str(status): {"description": _ERRORS[status], "content": said}
        for status in sorted({401, 429, *errors})
    }
    told = {"application/json": {"schema": answer}}
    done = {"description": "Done", "headers": headers, "content": told}
    operation = {"operationId": name, "summary": summary, "responses": {"200": done, **refused}}
    return {**operation, "parameters": list(parameters)} if parameters else operation


def _object(types: Mapping[str, str], fields: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """An object with fields of these types and those of `fields`, all of them required."""
    properties = {**{name: {"type": kind} for name, kind in types.items()}, **(fields or {})}
    return {"type": "object", "properties": properties, "required": list(properties)}


def _path(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}


def _query(parameter: Parameter) -> dict[str, Any]:
    return {"name": parameter.name, "in": "query", "schema": parameter.schema}


# Every endpoint, by path and method. The application routes each to the answer of its `operationId`, by which
# faults and counts name it, too.
PATHS: Final[Mapping[str, Mapping[str, dict[str, Any]]]] = {
    wire.TEXT_TO_VIDEO: {"post": _submission(TEXT)},
    wire.IMAGE_TO_VIDEO: {"post": _submission(IMAGE)},
    f"{wire.STATUS}/{{request_id}}": {
        "get": _operation("status", "The job as it stands", _status(), [_path("request_id")], errors=(404,))
    },
    wire.BALANCE: {
        "get": _operation("balance", "Balance and what was spent, in USD", _object(BALANCE_FIELDS))
    },
    wire.USAGE: {
        "get": _operation("usage", "What was used", _object(USAGE_FIELDS), [_query(DAYS)], errors=(400,))
    },
    wire.KEYS: {"get": _list_keys(), "post": _create_key()},
    f"{wire.KEYS}/{{key_id}}": {
        "delete": _operation(
            "revoke-key", "Revokes the key", _object(_REVOKED), [_path("key_id")], errors=(404,)
        )
    },
}
