"""What the service does and answers, however it was asked: by HTTP (app.py) or by a tool (tool_catalogue.py).

Reading a request is left to payloads.py; who may ask was decided before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from .accounts import MICRO, BalanceTooLow
from .faults import VIDEOS
from .jobs import Job, status_body
from .payloads import Refused, Wanted
from .service import Service

Answered = Mapping[str, Any]


def reached_at(request: Request) -> str:
    """The address by which this client reached the sandbox: one that works for it."""
    return f"{request.url.scheme}://{request.headers['host']}"


async def submitted(service: Service, wanted: Wanted) -> Answered:
    """Accept a job (interface, Endpoints: generate). Raises Refused if it can't be paid."""
    try:
        job = await service.submit(wanted)
    except BalanceTooLow as exc:
        free, required = max(0, exc.free_micro) / MICRO, exc.required_micro / MICRO
        raise Refused(
            402, f"Insufficient balance. Current balance: ${free:.2f}, required: ${required:.2f}"
        ) from None
    return {
        "request_id": job.request_id,
        "status": job.state,
        "estimated_cost_usd": job.estimated_cost_usd,
        "estimated_duration_seconds": job.duration_seconds,
    }


async def status(service: Service, request_id: str, base_url: str) -> Answered:
    """The job as it stands (interface, Endpoints: status), its clip below `base_url`. Raises Refused."""
    job = await service.jobs.find(request_id)
    if job is None:
        raise Refused(404, "No such request_id")
    return status_body(job, service.clock.now(), _video_url(service, job, base_url))


async def balance(service: Service) -> Answered:
    """What is left and what was spent (interface, Endpoints: balance)."""
    await service.jobs.move_on()
    return service.accounts.balance()


async def usage(service: Service, days: int) -> Answered:
    """What was used in the last `days` days (interface, Endpoints: usage)."""
    await service.jobs.move_on()
    return service.accounts.usage(days)


def _video_url(service: Service, job: Job, base_url: str) -> str | None:
    if job.video is None:
        return None
    link = service.faults.link(job.video)
    url = f"{base_url}{VIDEOS}{job.video}"
    return f"{url}?link={link}" if link else url
