"""The room's pages for students and teacher."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...sandbox.payloads import Refused, refusal
from .app import JOIN, Room, join_as_program
from .store import RoomRefusal


def routes(room: Room) -> list[Route]:
    """All pages, and what their forms send."""

    async def join(request: Request) -> Response:
        try:
            return await join_as_program(room, request)
        except RoomRefusal as refused:
            return refusal(refused.status, str(refused))
        except Refused as refused:
            return refusal(refused.status, refused.detail)

    return [Route(JOIN, join, methods=["POST"])]
