"""The service's interface as data: paths, field names, states, limits and the price, each written once.

Of the interface, client and sandbox share this module alone, so a mistake in one can't hide in the other.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal
from urllib.parse import quote, urlsplit

API: Final = "/api/v1"
TEXT_TO_VIDEO: Final = f"{API}/generate/text-to-video"
IMAGE_TO_VIDEO: Final = f"{API}/generate/image-to-video"
STATUS: Final = f"{API}/status"
BALANCE: Final = f"{API}/billing/balance"
USAGE: Final = f"{API}/billing/usage"
KEYS: Final = f"{API}/keys"

PENDING: Final = "pending"
PROCESSING: Final = "processing"
COMPLETED: Final = "completed"
FAILED: Final = "failed"
# What each state's status has besides request_id and status (interface, "Job states"), and its JSON types.
STATUS_FIELDS: Final[Mapping[str, Mapping[str, str]]] = {
    PENDING: {"estimated_cost_usd": "number"},
    PROCESSING: {"estimated_cost_usd": "number", "progress": "integer"},
    COMPLETED: {"video_url": "string", "duration_seconds": "number", "cost_usd": "number"},
    FAILED: {"error": "string"},
}

Mode = Literal["text-to-video", "image-to-video"]
AspectRatio = Literal["16:9", "9:16", "1:1"]

ASPECT_RATIOS: Final[tuple[AspectRatio, ...]] = ("16:9", "9:16", "1:1")
DEFAULT_ASPECT_RATIO: Final[AspectRatio] = "16:9"
# The web app offers these too; the API doesn't (interface, "What the service does").
WEB_APP_ONLY_RATIOS: Final = ("4:3", "3:4", "21:9")

MIN_SECONDS: Final = 1
MAX_SECONDS: Final = 10
DEFAULT_SECONDS: Final = 5
RANDOM_SEED: Final = -1
PRICE_USD_PER_SECOND: Final = 0.05
MICRO: Final = 1_000_000  # of a USD: sums are kept in these, so that they are compared exactly

DAY_SECONDS: Final = 86_400  # usage is asked for by days

DEFAULT_REQUESTS_PER_MINUTE: Final = 10
MAX_REQUESTS_PER_MINUTE: Final = 100
RATE_WINDOW_SECONDS: Final = 60.0
RATE_LIMIT: Final = "X-RateLimit-Limit"
RATE_REMAINING: Final = "X-RateLimit-Remaining"
RATE_RESET: Final = "X-RateLimit-Reset"

USER_ID_HEADER: Final = "X-User-ID"

# What a class's room adds to the interface, and how its `about` answer names it.
OFFERS: Final = ("idempotency_key", "queue_position", "take_back", "job_list")
ROOM_JOIN: Final = "/room/join"
ROOM_JOBS: Final = "/room/jobs"
IDEMPOTENCY_KEY: Final = "Idempotency-Key"

_SAID_IN: Final = ("detail", "message", "error", "msg", "errors", "reason")


def cost_usd(seconds: float) -> float:
    """The price in USD of `seconds` of video (interface, Limits: 0.05 x duration_seconds)."""
    return round(PRICE_USD_PER_SECOND * seconds, 6)


def path_of(collection: str, identifier: str) -> str:
    """The path of one of STATUS, KEYS or ROOM_JOBS; quoted, so that no id can name another endpoint."""
    # quote() leaves dots alone, and a path of "." or ".." would be resolved away.
    quoted = quote(identifier, safe="") if identifier.strip(".") else quote(identifier).replace(".", "%2E")
    return f"{collection}/{quoted}"


def origin(service: str) -> str:
    """Scheme, host and port of an address; any other name unchanged."""
    try:
        parts = urlsplit(service.strip())
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return service.strip()
    if not parts.hostname:
        return service.strip()
    return f"{parts.scheme}://{parts.hostname}:{port}"


def words(said: Any) -> str:
    """The service's own words in an error: plain text, or nested in one of the usual shapes; "" for none.

    The interface states no shape but {detail: string} of 402 (Errors).
    """
    for _ in range(5):
        if isinstance(said, str):
            return said.strip()
        if isinstance(said, Mapping):
            said = next((said[name] for name in _SAID_IN if said.get(name)), None)
        elif isinstance(said, list):  # FastAPI's validation errors
            said = said[0] if said else None
    return ""
