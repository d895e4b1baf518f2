"""The sandbox's OpenAPI document: valid, and true to what the sandbox and a class's room answer."""

import contextlib
import io
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings, strategies
from openapi_spec_validator import validate
from PIL import Image
from schemathesis import checks
from schemathesis.core.result import Ok
from support.kept_clips import KeptClips

from reelbook import connect, wire
from reelbook.classroom.room import app
from reelbook.classroom.room.serving import in_thread
from reelbook.sandbox import server
from reelbook.sandbox.openapi import NOT_SHOWN, document
from reelbook.version import VERSION

CASES = 12  # of each operation
KNOWN = 20  # of the clips that were ordered meanwhile, their status is asked for
TRIED = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
    checks.response_headers_conformance,
]


def tried(described: dict[str, Any], url: str, key: str) -> Counter[str]:
    """Valid and invalid requests of each operation that is `described`; how often which status was answered.

    Raises what a check finds.
    """
    answers: Counter[str] = Counter()
    ordered: list[str] = []
    schema = schemathesis.openapi.from_dict(described)
    schema.config.update(base_url=url)
    headers = {"Authorization": f"Bearer {key}"}
    for result in schema.get_all_operations():
        assert isinstance(result, Ok)
        operation = result.ok()
        for mode in (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE):
            strategy = operation.as_strategy(generation_mode=mode)

            @settings(
                max_examples=CASES,
                deadline=None,
                database=None,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            @given(case=strategy)
            def one(case: Any) -> None:
                answer = case.call_and_validate(headers=headers, checks=TRIED)
                answers[f"{case.operation.label} {answer.status_code}"] += 1
                if case.operation.method == "post" and "request_id" in answer.json():
                    ordered.append(answer.json()["request_id"])

            one()
    status = schema[f"{wire.STATUS}/{{request_id}}"]["GET"]
    for request_id in ordered[:KNOWN]:
        answer = status.Case(path_parameters={"request_id": request_id}).call_and_validate(
            headers=headers, checks=TRIED
        )
        answers[f"{status.label} {answer.status_code}"] += 1
    return answers


def picture() -> bytes:
    """What an `image` may be."""
    content = io.BytesIO()
    Image.new("RGB", (64, 36)).save(content, "PNG")
    return content.getvalue()


def opened(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema to which fields may be added."""
    return {name: said for name, said in schema.items() if name != "additionalProperties"}


schemathesis.openapi.format("binary", strategies.sampled_from([picture(), b"", b"no picture"]))


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[str, str]]]:
    """A sandbox and a room in front of it, which sends nothing on: the address and a key of each."""
    home = tmp_path_factory.mktemp("home")
    with (
        pytest.MonkeyPatch.context() as patched,
        server.in_thread(home, pace=0, executor=KeptClips(), rate_limiting=False, balance_usd=1e6) as sandbox,
        contextlib.closing(connect("sandbox", home=home)) as session,
        in_thread(session, "FOX-234", cap_usd=1e5) as running,
    ):
        patched.setattr(app, "REQUESTS_PER_MINUTE", 10**9)  # one student asks all of it
        running.store.change(paused=1)
        _, key = running.store.join("Ada")
        yield {"sandbox": (sandbox.url, sandbox.api_key.reveal()), "room": (running.url, key.reveal())}


def test_the_document_is_valid(both: dict[str, tuple[str, str]]) -> None:
    """As OpenAPI 3.1, and it tells all that the interface leaves open, with the sandbox's switches."""
    told = httpx.get(f"{both['sandbox'][0]}/openapi.json", trust_env=False).json()
    validate(told)

    assert told == document(VERSION)
    assert [each["what"] for each in told["info"]["x-not-shown"]] == [what for what, _, _ in NOT_SHOWN]


@pytest.mark.parametrize("service", ["sandbox", "room"])
def test_every_answer_is_as_the_document_says(both: dict[str, tuple[str, str]], service: str) -> None:
    """To valid and to invalid requests alike: status, headers and body; never a 5xx.

    A room has no keys to make, and tells more of a job than the service does.
    """
    described = document(VERSION)
    if service == "room":
        paths = {path: told for path, told in described["paths"].items() if not path.startswith(wire.KEYS)}
        described = json.loads(json.dumps({**described, "paths": paths}), object_hook=opened)
    answers = tried(described, *both[service])
    assert {label.rpartition(" ")[2] for label in answers} >= {"200", "400", "404"}
    assert answers[f"GET {wire.STATUS}/{{request_id}} 200"] > 0
