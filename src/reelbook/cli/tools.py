"""`reelbook tools`: the agent tool server's tools, listed and called from a terminal.

A user id comes from the settings or a prompt, never from the command line, where every process can read it.
What a server says is shown as text: nothing of it reaches the terminal as a control character.
"""

from __future__ import annotations

import base64
import json
import mimetypes
import sys
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import settings
from ..errors import InvalidInput
from ..formatting import terminal_json, terminal_line
from ..secret import shown
from .options import Home, Service
from .output import say, say_json, say_over

if TYPE_CHECKING:
    from ..client.tool_values import Content, Tool, ToolProgress, ToolResult
    from ..session import Session, Tools

DESCRIPTION_CHARACTERS = 300
SHOWN_CHARACTERS = 100_000

commands = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="The tools of an agent tool server.")

Which = Annotated[
    Service,
    typer.Option(help="auto: the configured tool server; the sandbox's, where no service is configured."),
]
Server = Annotated[
    str | None,
    typer.Option(
        help="The tool server's address. Default: REELBOOK_MCP_URL. The user id comes from REELBOOK_USER_ID, "
        "the keyring or a prompt.",
        show_default=False,
    ),
]


@commands.command("list")
def list_tools(
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, with the schemas.")] = False,
    server: Server = None,
    service: Which = Service.auto,
    home: Home = None,
) -> None:
    """List the tools, with what they take. Names and descriptions are the server's own."""
    with closing(_source(server, service, home)) as source:
        info, tools = source.tool_server(), source.tools()
    if as_json:
        say_json([_document(tool) for tool in tools])
        return
    if sys.stdout.isatty():
        _table(tools)
    else:
        for tool in tools:
            say(
                "\t".join(
                    (terminal_line(tool.name), terminal_line(_takes(tool)), terminal_line(_about(tool)))
                )
            )
    count = "1 tool" if len(tools) == 1 else f"{len(tools)} tools"
    say(
        f"{count} of {terminal_line(info.name) or 'the tool server'} {terminal_line(info.version)}".rstrip()
        + ".",
        err=True,
    )


@commands.command()
def call(
    name: Annotated[str, typer.Argument(help="The tool, as in the list.")],
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[KEY=VALUE]...",
            help="Arguments. KEY=@FILE takes a file: its text, or base64 of what isn't text.",
            show_default=False,
        ),
    ] = None,
    given: Annotated[
        str | None,
        typer.Option("--json", help="Arguments as a JSON object; - reads it from standard input."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Put pictures, sound and files of the result into this folder.",
            file_okay=False,
        ),
    ] = None,
    deadline: Annotated[
        float, typer.Option(metavar="SECONDS", help="How long to wait for the result.", min=0.1)
    ] = 600.0,
    server: Server = None,
    service: Which = Service.auto,
    home: Home = None,
) -> None:
    """Call a tool once and print its result. A call may cost money, and no spending limit stops it.

    Structured results are printed as JSON, others as text. Ctrl-C ends the call and tells the server.
    """
    arguments = _object(sys.stdin.read() if given == "-" else given)
    with closing(_source(server, service, home)) as source:
        if words:
            schema = next((tool.input_schema for tool in source.tools() if tool.name == name), {})
            arguments |= _arguments(words, schema)
        run = source.start_tool(
            name, arguments, on_progress=_progress if sys.stderr.isatty() else None, deadline_seconds=deadline
        )
        try:
            result = run.result()
        except KeyboardInterrupt:
            run.cancel()
            raise
        finally:
            if sys.stderr.isatty():
                say_over("")
    _show(result, out)
    if result.is_error:
        raise typer.Exit(1)


def _source(server: str | None, service: Service, home: Path | None) -> Session | Tools:
    from ..session import connect, connect_tools

    configured = server or settings.find(settings.MCP_URL) or settings.find(settings.USER_ID)
    elsewhere = settings.find(settings.API_KEY) or settings.find(settings.BASE_URL)
    if service == Service.sandbox and server:
        raise InvalidInput("The sandbox has its own tool server: leave --server out.")
    if service == Service.sandbox or (service == Service.auto and not configured and not elsewhere):
        return connect("sandbox", home=home)
    return connect_tools(server, home=home, ask=bool(configured) and sys.stdin.isatty())


def _object(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise InvalidInput("--json takes one JSON object. Nothing was sent.")
    return value


def _arguments(words: Iterable[str], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `KEY=VALUE` words, as the schema's types want them."""
    properties = schema.get("properties")
    known = properties if isinstance(properties, dict) else {}
    arguments = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not key or not equals:
            raise InvalidInput(f"“{shown(word)}” is no KEY=VALUE. Nothing was sent.")
        arguments[key] = _value(key, value, known.get(key))
    return arguments


def _value(key: str, value: str, schema: Any) -> Any:
    if value.startswith("@@"):
        return value[1:]
    if value.startswith("@"):
        return _file(Path(value[1:]))
    types = schema.get("type") if isinstance(schema, dict) else None
    types = types if isinstance(types, list) else [types]
    if types == ["string"]:
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        if types == [None] or "string" in types:
            return value
        wanted = " or ".join(map(str, types))
        raise InvalidInput(f"{key} takes {wanted}, as JSON. Nothing was sent.") from None


def _file(path: Path) -> str:
    try:
        content = path.expanduser().read_bytes()
    except OSError as error:
        raise InvalidInput(f"{path} can't be read: {error.strerror}. Nothing was sent.") from None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return base64.b64encode(content).decode()


def _progress(progress: ToolProgress) -> None:
    part = f"{progress.fraction:4.0%}" if progress.fraction is not None else f"{progress.progress:g}"
    say_over(f"{part} {terminal_line(progress.message or '')[:100]}")


def _show(result: ToolResult, out: Path | None) -> None:
    from ..client.tool_values import TextContent

    if result.structured is not None and not result.is_error:
        text = terminal_json(result.structured)
        # Whole for a program: half a JSON document is none.
        say(_shortened(text) if sys.stdout.isatty() else text)
    texts_too = result.structured is None or result.is_error
    for number, content in enumerate(result.content, start=1):
        if isinstance(content, TextContent):
            if texts_too:
                say(_shortened(content.text), err=result.is_error)
        else:
            say(_other(content, number, out), err=not texts_too)


def _other(content: Content, number: int, out: Path | None) -> str:
    from ..client.tool_values import AudioContent, EmbeddedResource, ImageContent, ResourceLink

    if isinstance(content, ResourceLink):
        return terminal_line(f"{content.title or content.name or 'A link'}: {content.uri}")
    if isinstance(content, EmbeddedResource) and content.text is not None:
        return _shortened(content.text)
    if isinstance(content, ImageContent | AudioContent | EmbeddedResource) and content.data is not None:
        about = f"{content.mime_type or 'data'}, {len(content.data):,} bytes"
        if out is None:
            return terminal_line(f"({about}; --out FOLDER keeps it)")
        ending = mimetypes.guess_extension((content.mime_type or "").split(";")[0].strip()) or ".bin"
        out.mkdir(parents=True, exist_ok=True)
        path = _free(out, f"result-{number}", ending)
        path.write_bytes(content.data)
        return terminal_line(f"{path} ({about})")
    return "(something of a kind that Reelbook doesn't know)"


def _free(folder: Path, stem: str, ending: str) -> Path:
    path, again = folder / f"{stem}{ending}", 1
    while path.exists():
        again += 1
        path = folder / f"{stem}-{again}{ending}"
    return path


def _document(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "input_schema": tool.input_schema,
        "output_schema": tool.output_schema,
        "read_only": tool.read_only,
        "destructive": tool.destructive,
    }


def _takes(tool: Tool) -> str:
    properties, required = tool.input_schema.get("properties"), tool.input_schema.get("required")
    names = properties if isinstance(properties, dict) else {}
    needed = required if isinstance(required, list) else []
    return " ".join(name if name in needed else f"[{name}]" for name in names)


def _about(tool: Tool) -> str:
    text = " ".join((tool.description or tool.title or "").split())
    return text if len(text) <= DESCRIPTION_CHARACTERS else text[: DESCRIPTION_CHARACTERS - 1] + "…"


def _table(tools: Iterable[Tool]) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from .screen import Screen

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("Tool", overflow="fold")
    table.add_column("Takes", overflow="fold")
    table.add_column("About", overflow="fold", ratio=1)
    for tool in tools:
        table.add_row(*(Text(terminal_line(each)) for each in (tool.name, _takes(tool), _about(tool))))
    Screen().print(table)


def _shortened(text: str) -> str:
    left_out = len(text) - SHOWN_CHARACTERS
    return text if left_out <= 0 else f"{text[:SHOWN_CHARACTERS]}\n… ({left_out:,} more characters)"
