"""`reelbook tools`: the agent tool server's tools, listed and called from a terminal.

A user id comes from the settings or a prompt, never from the command line, where every process can read it.
What a server says is shown as text: none of it reaches the terminal as a control character.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import mimetypes
import os
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import settings
from ..errors import InvalidInput
from ..formatting import count, terminal_json, terminal_line
from ..secret import shown
from .console import moving_line, say, say_json
from .options import AsJson, Group, Home, Service, option

if TYPE_CHECKING:
    from ..agent_tools.types import Content, Tool, ToolResult
    from ..session import Session, Tools

MAX_ABOUT = 300

commands = Group(help="The tools of an agent tool server.")

Which = Annotated[
    Service,
    typer.Option(help="auto: the configured tool server; the sandbox's, where no service is configured."),
]
Server = Annotated[
    str | None,
    option(
        "The tool server's address. Default: REELBOOK_MCP_URL. The user id comes from REELBOOK_USER_ID, "
        "the keyring or a prompt.",
        metavar="ADDRESS",
    ),
]


@commands.command("list")
def list_tools(
    as_json: AsJson = False,
    server: Server = None,
    service: Which = "auto",
    home: Home = None,
) -> None:
    """List the tools and their arguments. Names and descriptions are the server's own."""
    with closing(_source(server, service, home)) as source:
        info, tools = source._tool_server(), source.tools()
    if as_json:
        say_json([dataclasses.asdict(tool) for tool in tools])
        return
    for tool in tools:
        row = (
            terminal_line(tool.name),
            terminal_line(_takes(tool)),
            terminal_line(tool.description or tool.title or "", MAX_ABOUT),
        )
        say("{} {}\n    {}".format(*row) if sys.stdout.isatty() else "\t".join(row))
    name = terminal_line(f"{info.name} {info.version}") or "the tool server"
    say(f"{count(len(tools), 'tool')} of {name}.", err=True)


@commands.command()
def call(
    name: Annotated[str, typer.Argument(help="The tool, as in the list.")],
    words: Annotated[
        list[str] | None,
        typer.Argument(
            help="Arguments. KEY=@FILE takes a file: its text, or base64 of what isn't text.",
            metavar="[KEY=VALUE]...",
        ),
    ] = None,
    given: Annotated[
        str | None,
        option("All arguments as a JSON object; - reads standard input.", "--arguments", metavar="OBJECT"),
    ] = None,
    out: Annotated[
        Path | None, option("Put pictures, sound and files of the result into this folder.", file_okay=False)
    ] = None,
    deadline: Annotated[
        float, typer.Option(metavar="SECONDS", help="How long to wait for the result.", min=0.1)
    ] = 600.0,
    server: Server = None,
    service: Which = "auto",
    home: Home = None,
) -> None:
    """Call a tool once and print its result. A call may cost money, and no spending limit stops it.

    Structured results are printed as JSON, others as text. Ctrl-C ends the call and tells the server.
    """
    from ..text.tools import progress

    arguments = _object(sys.stdin.read() if given == "-" else given)
    if out is not None:
        _check_folder(out)
    with closing(_source(server, service, home)) as source:
        if words:
            schema = next((tool.input_schema for tool in source.tools() if tool.name == name), {})
            arguments |= dict(_argument(word, schema.get("properties")) for word in words)
        with moving_line() as show:
            run = source.call_tool(
                name,
                arguments,
                on_progress=lambda told: show(terminal_line(progress(told))),
                deadline_seconds=deadline,
            )
            try:
                result = run.result()
            except KeyboardInterrupt as stop:
                run.cancel()
                stop.add_note("The call was ended. It may have been carried out, and billed.")
                raise
    _show(result, out)
    if result.is_error:
        raise typer.Exit(1)


def _source(server: str | None, service: Service, home: Path | None) -> Session | Tools:
    from ..session import connect_tools
    from ..session.connector import connect_own_sandbox

    configured = server or settings.find(settings.MCP_URL) or settings.find(settings.USER_ID)
    elsewhere = settings.find(settings.API_KEY) or settings.find(settings.BASE_URL)
    if service == "sandbox" and server:
        raise InvalidInput("The sandbox has its own tool server: leave --server out.")
    if service == "sandbox" or (service == "auto" and not configured and not elsewhere):
        return connect_own_sandbox(home)  # a class's cards have no user id for its tool server
    return connect_tools(server, home=home, ask=bool(configured) and sys.stdin.isatty())


def _object(text: str | None) -> dict[str, Any]:
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise InvalidInput("--arguments takes one JSON object. Nothing was sent.")
    return value


def _argument(word: str, properties: Any) -> tuple[str, Any]:
    """The argument that a word KEY=VALUE gives, as the schema's type wants it."""
    key, equals, value = word.partition("=")
    if not key or not equals:
        raise InvalidInput(f"“{shown(word)}” isn't KEY=VALUE. Nothing was sent.")
    if value.startswith("@") and not value.startswith("@@"):
        return key, _file(Path(value[1:]))
    value = value.removeprefix("@")
    known = properties.get(key) if isinstance(properties, dict) else None
    wanted = known.get("type") if isinstance(known, dict) else None
    if wanted == "string":
        return key, value
    try:
        return key, json.loads(value)
    except (ValueError, RecursionError):
        if wanted is None or "string" in str(wanted):
            return key, value
        raise InvalidInput(f"{key} takes {wanted}, as JSON. Nothing was sent.") from None


def _file(path: Path) -> str:
    try:
        content = Path(os.path.expanduser(path)).read_bytes()
    except OSError as error:
        raise InvalidInput(f"{path} can't be read: {error.strerror}. Nothing was sent.") from None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return base64.b64encode(content).decode()


def _check_folder(out: Path) -> None:
    """Makes the folder for what a call may be paid for. Raises InvalidInput if nothing can be put there."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"{out} can't be made: {error.strerror}. Nothing was sent.") from None
    if not os.access(out, os.W_OK):
        raise InvalidInput(f"{out} can't be written to. Choose another --out. Nothing was sent.")


def _show(result: ToolResult, out: Path | None) -> None:
    """Prints a result. Where a file of it can't be written, raises OSError after all the rest."""
    from ..agent_tools.types import TextContent

    structured = result.structured is not None and not result.is_error
    if structured:
        say(terminal_json(result.structured))
    elif str(result):
        say(str(result), err=result.is_error)
    unwritten: OSError | None = None
    for number, content in enumerate(result.content, start=1):
        if not isinstance(content, TextContent):
            try:
                say(_other(content, number, out), err=structured)
            except OSError as error:
                unwritten = error
    if unwritten is not None:
        raise unwritten


def _other(content: Content, number: int, out: Path | None) -> str:
    """What to say of a piece that isn't text; its bytes are put into `out`."""
    from ..agent_tools.types import BinaryContent, Resource
    from ..saved_files import free_file

    if isinstance(content, Resource):
        return terminal_line(f"{content.title or content.name or 'A link'}: {content.uri}")
    if not isinstance(content, BinaryContent):
        return "(something of a kind that Reelbook doesn't know)"
    about = f"{content.mime_type or 'data'}, {len(content.data):,} bytes"
    if out is None:
        return terminal_line(f"({about}; --out FOLDER keeps it)")
    ending = mimetypes.guess_extension(content.mime_type.split(";")[0].strip()) or ".bin"
    path = free_file(out / f"result-{number}{ending}")
    path.write_bytes(content.data)
    return terminal_line(f"{path} ({about})")


def _takes(tool: Tool) -> str:
    properties, required = tool.input_schema.get("properties"), tool.input_schema.get("required")
    names = properties if isinstance(properties, dict) else {}
    needed = required if isinstance(required, list) else []
    return " ".join(name if name in needed else f"[{name}]" for name in names)
