"""Students as bare HTTP clients: what they send is what a program of their own would."""

import time
from typing import Any, Self

import httpx

from reelbook import wire
from reelbook.classroom.room.app import Room

ENDED = (wire.COMPLETED, wire.FAILED)
LOOKS, LOOK_SECONDS = 100, 0.3


def go_on(room: Room) -> None:
    """Ends the room's pause."""
    room.store.change(paused=0)
    room.queue.poke()


class Visitor:
    """Somebody who talks to a room at `url`."""

    def __init__(self, url: str, headers: dict[str, str] | None = None) -> None:
        self.url = url
        self.http = httpx.Client(base_url=url, headers=headers, timeout=60, trust_env=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def ask_to_join(self, name: str, code: str = "FOX-234") -> httpx.Response:
        """What the room says to a name and a code."""
        return self.http.post("/room/join", json={"code": code, "name": name})

    def join(self, name: str, code: str = "FOX-234") -> Self:
        """Joins, and asks with the key from then on."""
        answer = self.ask_to_join(name, code)
        assert answer.status_code == 200, answer.text
        self.http.headers["Authorization"] = f"Bearer {answer.json()['api_key']}"
        return self

    def order(self, prompt: str = "a fox", seconds: int = 1, **more: Any) -> httpx.Response:
        """What the room says to an order. `repeat_key` is its Idempotency-Key."""
        key = more.pop("repeat_key", None)
        headers = {} if key is None else {"Idempotency-Key": key}
        body = {"prompt": prompt, "duration_seconds": seconds, **more}
        return self.http.post(wire.TEXT_TO_VIDEO, json=body, headers=headers)

    def ordered(self, prompt: str = "a fox", seconds: int = 1, **more: Any) -> str:
        """Orders; the job's id."""
        answer = self.order(prompt, seconds, **more)
        assert answer.status_code == 200, answer.text
        request_id: str = answer.json()["request_id"]
        return request_id

    def status(self, request_id: str) -> dict[str, Any]:
        """What the room tells of a job."""
        answer = self.http.get(wire.path_of(wire.STATUS, request_id))
        while answer.status_code == 429:  # a slow machine took more questions than the room allows
            time.sleep(1)
            answer = self.http.get(wire.path_of(wire.STATUS, request_id))
        assert answer.status_code == 200, answer.text
        told: dict[str, Any] = answer.json()
        return told

    def ended(self, request_id: str) -> dict[str, Any]:
        """What the room tells of a job once it has ended."""
        told = self.status(request_id)
        for _ in range(LOOKS):
            if told["status"] in ENDED:
                return told
            time.sleep(LOOK_SECONDS)  # not so often that its key's requests are used up
            told = self.status(request_id)
        raise AssertionError(f"it never ended: {told}")

    def balance(self) -> dict[str, float]:
        """What the student has left, and has spent."""
        told: dict[str, float] = self.http.get(wire.BALANCE).json()
        return told
