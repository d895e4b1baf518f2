"""What the sandbox has beyond the interface, as data: control plane, settings, agent tools."""

from dataclasses import dataclass
from typing import Final, Literal, TypeGuard

from ..web.limits import LimitSettings
from ..wire import DAY_SECONDS

PREFIX: Final = "/_sandbox"
ABOUT: Final = f"{PREFIX}/about"
SETTINGS: Final = f"{PREFIX}/settings"
CLOCK: Final = f"{PREFIX}/clock"
STOP: Final = f"{PREFIX}/stop"
STATE: Final = f"{PREFIX}/state"
FAULTS: Final = f"{PREFIX}/faults"
HISTORY: Final = f"{PREFIX}/history"
TOOLS: Final = "/mcp"  # the agent tool server's path
TOKEN_HEADER: Final = "X-Sandbox-Token"  # noqa: S105  # a header's name
SERVICE_NAME: Final = "reelbook-sandbox"

Pace = str | float
# Median seconds, and the spread (sigma of the logarithm) of the time a job takes.
PACES: Final[dict[str, tuple[float, float]]] = {"at once": (0, 0), "brisk": (8, 0.15), "lifelike": (40, 0.35)}
PACE_IS: Final = 'pace is "at once", "brisk", "lifelike" or a number of seconds up to a day'
UsageDays = Literal["rolling", "calendar"]


@dataclass(frozen=True)
class Settings(LimitSettings):
    """What the control plane may change while the sandbox runs. `Sandbox.settings` says what each does."""

    pace: Pace = "brisk"
    max_image_bytes: int = 10 * 1024 * 1024
    fail_next: str | None = None
    usage_days: UsageDays = "rolling"


def is_pace(pace: object) -> bool:
    """Whether it is a name of PACES, or seconds from 0 to a day."""
    return (isinstance(pace, str) and pace in PACES) or (is_number(pace) and pace <= DAY_SECONDS)


def is_number(value: object) -> TypeGuard[float]:
    """Whether it is a number from 0 to 1e9, and no boolean."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1e9
