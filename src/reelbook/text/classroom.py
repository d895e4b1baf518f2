"""What the classroom's panel says of a class that is served."""

from typing import Any

from reelbook.classroom.room.numbers import RoomNumbers

from ..formatting import count, dollars


def served(room: RoomNumbers) -> dict[str, Any]:
    figures, settings = _figures(room), room.settings
    if room.ended:
        where = "It has ended; reelbook classroom report writes its report."
    elif not room.address:
        where = "Nobody is serving it; reelbook classroom serve resumes it."
    else:
        where = f"{room.address} · code {settings.code} · your page: {room.address}/room"
    return {
        "name": settings.name,
        "figures": f"Paused · {figures}" if settings.paused else figures,
        "where": where,
        "joined": ", ".join(room.joined),
        "clips": [f"{name}: {prompt}" for name, prompt in room.clips],
    }


def still(room: RoomNumbers | None) -> str:
    """The class in one line for a saved notebook, without anybody's name."""
    if room is None:
        return "Classroom: none is served."
    return f"Classroom “{room.settings.name}”: {_figures(room)}."


def _figures(room: RoomNumbers) -> str:
    settings = room.settings
    places = "" if settings.places is None else f" of {settings.places}"
    cap = "" if settings.whole_cap_usd is None else f" of {dollars(settings.whole_cap_usd)}"
    return (
        f"{len(room.joined)}{places} joined · {count(room.waiting, 'clip')} in the queue · "
        f"{dollars(room.spent_usd)}{cap} spent"
    )
