"""Our tool client against servers that this project didn't write, run here over streamable HTTP.

`PYTHONPATH=src:tests python -m benchmarks.tool_servers [--folder DIR] [--only NAME] [--tools]`

Installs them from npm and PyPI into `--folder` (a temporary one, else), starts each on a free port, lists
what it offers, draws each tool's form as the panel would, makes a few calls and prints what came. Fetches
packages, so it is no part of the suite. Chromium has to be there for Playwright's.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reelbook.agent_tools.server import ToolServer
from reelbook.agent_tools.types import TextContent, Tool, ToolResult
from reelbook.errors import ReelbookError
from reelbook.widgets.schema_form import form_of

USER = "user-of-the-benchmark"
START_SECONDS = 60.0
NPM = (
    "@modelcontextprotocol/server-everything",
    "@modelcontextprotocol/server-memory",
    "@playwright/mcp",
)
PYPI = ("excel-mcp-server",)
# The proxy doesn't work with the package's second generation, so these have a place of their own.
OLDER = ("mcp<2", "mcp-proxy", "mcp-server-sqlite", "mcp-server-time")


@dataclass(frozen=True)
class Stranger:
    """A server by somebody else: what starts it on `{port}` in `{folder}`, and calls to make of it."""

    name: str
    packages: tuple[str, ...]
    command: tuple[str, ...]
    calls: Sequence[tuple[str, Mapping[str, Any]]]
    environment: Mapping[str, str] = field(default_factory=dict)


STRANGERS = (
    Stranger(
        "everything",
        NPM[:1],
        ("{npm}/mcp-server-everything", "streamableHttp"),
        [
            ("echo", {"message": "a red fox"}),
            ("get-sum", {"a": 2, "b": 3}),
            ("trigger-long-running-operation", {"duration": 1, "steps": 4}),
            ("get-tiny-image", {}),
            ("get-annotated-message", {"messageType": "error", "includeImage": True}),
            ("get-structured-content", {"location": "Chicago"}),
            ("get-resource-links", {"count": 2}),
            ("get-resource-reference", {"resourceType": "Blob", "resourceId": 1}),
        ],
        {"PORT": "{port}"},
    ),
    Stranger(
        "playwright",
        NPM[2:3],
        (
            "{npm}/playwright-mcp",
            *("--port", "{port}", "--headless", "--isolated", "--no-sandbox"),
            *("--executable-path", "{chromium}"),
        ),
        [
            ("browser_navigate", {"url": "data:text/html,<h1>A red fox</h1>"}),
            ("browser_evaluate", {"function": "() => 6 * 7"}),
            ("browser_take_screenshot", {"type": "png"}),
            ("browser_close", {}),
        ],
    ),
    Stranger(
        "excel",
        PYPI[:1],
        ("{python}/excel-mcp-server", "streamable-http", "--port", "{port}"),
        [
            ("create_workbook", {"path": "clips.xlsx", "sheets": ["Clips"]}),
            (
                "write_range",
                {
                    "path": "clips.xlsx",
                    "sheet": "Clips",
                    "at": "A1",
                    "rows": [["prompt", "USD"], ["a fox", 0.25]],
                },
            ),
            ("read_range", {"path": "clips.xlsx", "sheet": "Clips", "range": "A1:B2"}),
            ("find_cells", {"path": "clips.xlsx", "query": "fox", "exact": False}),
        ],
        {"EXCEL_FILES_PATH": "{folder}"},
    ),
    Stranger(
        "time, behind mcp-proxy",
        ("mcp-server-time", "mcp-proxy"),
        ("{older}/mcp-proxy", "--port", "{port}", "{older}/mcp-server-time"),
        [
            ("get_current_time", {"timezone": "Europe/Berlin"}),
            ("get_current_time", {"timezone": "nowhere"}),
        ],
    ),
    Stranger(
        "sqlite, behind mcp-proxy",
        ("mcp-server-sqlite", "mcp-proxy"),
        (
            "{older}/mcp-proxy",
            "--port",
            "{port}",
            "{older}/mcp-server-sqlite",
            "--",
            "--db-path",
            "{folder}/x.db",
        ),
        [
            ("create_table", {"query": "CREATE TABLE clips (prompt TEXT)"}),
            ("write_query", {"query": "INSERT INTO clips VALUES ('a fox')"}),
            ("read_query", {"query": "SELECT * FROM clips"}),
        ],
    ),
    Stranger(
        "memory, behind mcp-proxy",
        (NPM[1], "mcp-proxy"),
        ("{older}/mcp-proxy", "--port", "{port}", "{npm}/mcp-server-memory"),
        [
            (
                "create_entities",
                {"entities": [{"name": "fox", "entityType": "animal", "observations": ["red"]}]},
            ),
            ("read_graph", {}),
        ],
        {"MEMORY_FILE_PATH": "{folder}/memory.json"},
    ),
)


def install(folder: Path) -> None:
    """Puts the strangers into `folder`, where they aren't there yet."""
    if not (folder / "node_modules").is_dir():
        subprocess.run(
            ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), *NPM],
            check=True,
        )
    for name, packages in (("python", PYPI), ("older", OLDER)):
        place = folder / name
        if not place.is_dir():
            subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
            command = [str(place / "bin/pip"), "install", "-q", *packages]
            subprocess.run(command, check=True, stderr=subprocess.DEVNULL)


def version_of(package: str, folder: Path) -> str:
    """The installed version of a package."""
    if (described := folder / "node_modules" / package / "package.json").is_file():
        return str(json.loads(described.read_text())["version"])
    code = f"import importlib.metadata as m; print(m.version({package!r}))"
    place = "python" if package in PYPI else "older"
    asked = subprocess.run([str(folder / place / "bin/python"), "-c", code], capture_output=True, text=True)
    return asked.stdout.strip()


def forms(tools: Sequence[Tool]) -> str:
    """What kinds of fields the panel's forms have."""
    drawn = [form_of(tool.input_schema) for tool in tools]
    kinds = Counter(field.kind for form in drawn for field in form.fields)
    counted = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    only_json = sum(field.name == "" for form in drawn for field in form.fields)
    return f"fields of {counted}; {only_json} forms of JSON only"


def described(result: ToolResult) -> str:
    """A result in a line."""
    kinds = [type(each).__name__ for each in result.content]
    text = next((each.text for each in result.content if isinstance(each, TextContent)), "")
    failed = "tool error, " if result.is_error else ""
    structured = ", structured" if result.structured is not None else ""
    return f"{failed}{'+'.join(kinds)}{structured}: {' '.join(text.split())[:70]}"


async def meet(stranger: Stranger, url: str, *, list_all: bool) -> bool:
    """Joins, lists, calls; says what came. Whether nothing failed."""
    fine = True
    progress: list[float | None] = []
    async with ToolServer(url, USER) as server:
        info = await server.info()
        tools = await server.tools()
        print(f"  {info.name} {info.version}, protocol {info.protocol}: {len(tools)} tools; {forms(tools)}")
        if list_all:
            for tool in tools:
                print(f"    {tool.name}({', '.join(tool.input_schema.get('properties', {}))})")
        for name, arguments in stranger.calls:
            try:
                result = await server.call(
                    name,
                    arguments,
                    on_progress=lambda told: progress.append(told.fraction),
                    deadline_seconds=30,
                )
            except ReelbookError as error:
                fine = False
                print(f"  {name}: {type(error).__name__}: {str(error)[:160]}")
            else:
                print(f"  {name}: {described(result)}")
        if progress:
            print(f"  progress: {progress}")
    return fine


def run(stranger: Stranger, folder: Path, *, list_all: bool) -> bool:
    """Starts a stranger, meets it and ends it."""
    print(
        f"{stranger.name}: " + ", ".join(f"{name} {version_of(name, folder)}" for name in stranger.packages)
    )
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    work = Path(tempfile.mkdtemp(dir=folder))
    places = {
        "port": port,
        "folder": work,
        "npm": folder / "node_modules/.bin",
        "python": folder / "python/bin",
        "older": folder / "older/bin",
        "chromium": shutil.which("chromium") or "chromium",
    }
    with (work / "log").open("wb") as log:
        process = subprocess.Popen(
            [word.format(**places) for word in stranger.command],
            env={
                **os.environ,
                **{name: word.format(**places) for name, word in stranger.environment.items()},
            },
            cwd=work,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # what it starts ends with it
        )
    try:
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                if process.poll() is not None or time.monotonic() > deadline:
                    print("  didn't start:", (work / "log").read_text()[-500:])
                    return False
                time.sleep(0.2)
        return asyncio.run(meet(stranger, f"http://localhost:{port}/mcp", list_all=list_all))
    except ReelbookError as error:
        print(f"  {type(error).__name__}: {error}")
        return False
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, help="where the packages are, or will be")
    parser.add_argument("--only", help="the stranger whose name begins so")
    parser.add_argument("--tools", action="store_true", help="name every tool")
    asked = parser.parse_args()
    folder = (asked.folder or Path(tempfile.mkdtemp(prefix="reelbook-strangers-"))).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    install(folder)
    met = [
        run(stranger, folder, list_all=asked.tools)
        for stranger in STRANGERS
        if stranger.name.startswith(asked.only or "")
    ]
    print(f"{sum(met)} of {len(met)} without an error of the client's")


if __name__ == "__main__":
    main()
