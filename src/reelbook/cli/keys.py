"""`reelbook keys`: the account's API keys, and changing the one in use.

A key's secret is printed only if that is asked for by name; else it goes into a private file or the keyring.
"""

import contextlib
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Self

import typer

from .. import settings, wire
from ..errors import InvalidInput, ReelbookError
from ..formatting import terminal_line
from ..secret import Secret, shown
from .console import require_yes, say, say_json, shell_word, waiting_notice
from .options import AsJson, Group, Home, Which, Yes, command_line, open_session, option

COLUMNS = ("id", "name", "preview", "limit", "state", "created", "last_used", "note")

WIDE_ENOUGH_FOR_COLUMNS = 72

commands = Group(help="The API keys of the account.")

Show = Annotated[bool, option("Print the key to standard output.", "--show")]
Out = Annotated[
    Path | None,
    option("Write the key to this file, which only you can read.", dir_okay=False),
]
Keep = Annotated[bool, option("Keep the key in the system's keyring.", "--keep")]


@commands.command("list", short_help="List the keys, and when each was last used.")
def list_keys(as_json: AsJson = False, service: Which = "auto", home: Home = None) -> None:
    """List the keys, and when each was last used; the keys themselves are never in the list."""
    from ..text import keys as words

    with open_session(service, home) as session:
        with waiting_notice(session):
            listed = session.keys.list()
        own = session.keys.in_use(listed)
    rows = words.rows(listed, own)
    if as_json:
        say_json(
            [
                {"id": key.key_id, "name": key.name, "preview": key.key_preview}
                | {"state": words.state_of(key, own), "rate_limit": key.rate_limit}
                | {"created_at": key.created_at, "last_used": key.last_used}
                for key in listed
            ]
        )
    elif sys.stdout.isatty():
        _print_table(rows)
        say(words.summary(listed, own))
    else:
        by_id = {key.key_id: key for key in listed}
        say("\t".join(COLUMNS))
        for row in rows:
            key = by_id[row["id"]]
            times = [key.created_at or "", key.last_used or "never"]
            cells = [row["id"], row["name"], row["preview"], row["limit"], row["state"], *times, row["stale"]]
            say("\t".join(map(terminal_line, cells)))
        say(words.summary(listed, own), err=True)


@commands.command()
def create(
    name: Annotated[str, typer.Argument(help="Its name in the list.")],
    rate_limit: Annotated[
        int, option("Requests a minute, 1 to 100. Default: 10.", metavar="NUMBER")
    ] = wire.DEFAULT_REQUESTS_PER_MINUTE,
    show: Show = False,
    out: Out = None,
    keep: Keep = False,
    service: Which = "auto",
    home: Home = None,
) -> None:
    """Create a key. Its secret goes where --show, --out or --keep says: the service shows it only once."""
    with SecretPlace(show, out, keep) as place, open_session(service, home) as session:
        with waiting_notice(session):
            created = session.keys.create(name, rate_limit=rate_limit)
        place.put(created.api_key, session.base_url, created.key_id)
        say(terminal_line(f"“{created.name}” was created: {created.key_id}. {place.said}"), err=True)


@commands.command()
def revoke(
    key_id: Annotated[str, typer.Argument(metavar="ID", help="The id of the key, as in the list.")],
    yes: Yes = False,
    service: Which = "auto",
    home: Home = None,
) -> None:
    """Revoke a key at once and for good."""
    from ..text import keys as words

    with open_session(service, home) as session:
        with waiting_notice(session):
            listed = session.keys.list()
        key = next((key for key in listed if key.key_id == key_id), None)
        if key is None:
            raise InvalidInput(
                f"There is no key {shown(key_id)}. Nothing was revoked. reelbook keys list shows them."
            )
        if not yes:
            say(terminal_line(words.question(key, session.keys.in_use(listed))), err=True)
        require_yes("Revoke it?", yes=yes, stake="It can't be taken back", untouched="Nothing was revoked.")
        with waiting_notice(session):
            session.keys.revoke(key_id)
    say(terminal_line(words.revoked(key.name)))


@commands.command(short_help="Replace the key in use with a fresh one.")
def rotate(
    name: Annotated[str | None, option("Its name. Default: that of the old one, with a number.")] = None,
    rate_limit: Annotated[
        int | None, option("Requests a minute, 1 to 100. Default: as the old one.", metavar="NUMBER")
    ] = None,
    show: Show = False,
    out: Out = None,
    keep: Keep = False,
    yes: Yes = False,
    service: Which = "auto",
    home: Home = None,
) -> None:
    """Replace the key in use with a fresh one: made, tried, kept, and the old one revoked last.

    The ledger's jobs, spend and limit go on under the new key. Other notebooks that run with the old key
    stop when it is revoked; until then it works.
    """
    from ..text import keys as words

    with open_session(service, home) as session:
        own = session.sandbox is not None
        with SecretPlace(show, out, keep and not own, "It is kept with the sandbox." if own else "") as place:
            with waiting_notice(session):
                rotation = session.keys.rotate(name, rate_limit=rate_limit)
            place.put(rotation.new.api_key, session.base_url, rotation.new.key_id)
        said = [
            terminal_line(f"“{rotation.new.name}” was created and works: {rotation.new.key_id}."),
            place.said,
            words.elsewhere(rotation.old_is_set_in or ""),
        ]
        say(" ".join(filter(None, said)), err=True)
        if rotation.old is None:
            say(
                "The list doesn't tell which key was the old one. It still works: find it with reelbook keys "
                "list and revoke it with reelbook keys revoke ID.",
                err=True,
            )
            return
        old = f"The old key “{rotation.old.name}” still works. Revoked, every notebook that uses it stops."
        say(terminal_line(old), err=True)
        there = sys.stdin.isatty()
        if not (yes or (there and typer.confirm("Revoke it now?", default=False, err=True))):
            revoke_it = command_line("keys", "revoke", rotation.old.key_id, service=service, home=home)
            say(terminal_line(f"To revoke it: {revoke_it}"), err=True)
            return
        rotation.revoke_old()
    say(terminal_line(words.revoked(rotation.old.name)))


@dataclass
class SecretPlace:
    """Where a new secret goes, settled before it is made, because it is shown only once.

    `said` tells where it is: at first what keeps it anyway, in the end all places.
    """

    show: bool
    out: Path | None
    keep: bool
    said: str = ""

    def __enter__(self) -> Self:
        if not (self.show or self.out or self.keep or self.said):
            raise InvalidInput(
                "Say where the new key goes, because the service shows it only once: --out FILE, --keep (the "
                "system's keyring) or --show (print it). Nothing was created."
            )
        if self.keep and not settings.has_keyring():
            raise InvalidInput(
                "This system has no keyring to keep it in. Run pip install keyring, or use --out. "
                "Nothing was created."
            )
        if self.out is not None:
            try:
                os.close(os.open(self.out, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            except OSError as error:
                there = f"{self.out} already exists. Choose another --out."
                wrong = f"{self.out} can't be written: {error.strerror}."
                said = there if isinstance(error, FileExistsError) else wrong
                raise InvalidInput(f"{said} Nothing was created.") from None
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            if self.out is not None and self.out.stat().st_size == 0:
                self.out.unlink()

    def put(self, secret: Secret, base_url: str, key_id: str) -> None:
        """Puts the secret wherever it was asked for; reports failures once the other places have it."""
        said, failed = [self.said] if self.said else [], []
        if self.out is not None:
            try:
                self.out.write_text(f"{secret.reveal()}\n")
                said.append(f"It is in {self.out}.")
            except OSError as error:
                self.out.unlink(missing_ok=True)
                failed.append(f"{self.out} couldn't be written: {error.strerror}.")
        if self.keep:
            try:
                settings.keep(secret, base_url)
                said.append("It is kept in the keyring.")
            except ReelbookError as error:
                failed.append(str(error))
        if self.show:
            try:
                say(secret.reveal())
                said.append("It was printed.")
            except OSError as error:
                failed.append(f"It couldn't be printed: {error.strerror}.")
        self.said = " ".join([*said, *failed])
        if failed and not said:
            raise ReelbookError(
                f"{self.said} The key was created and nobody has its secret: revoke it with "
                f"reelbook keys revoke {shell_word(key_id)}, and make another one."
            )


def _print_table(rows: list[dict[str, str]]) -> None:
    from .screen import Column, Screen, table

    screen = Screen()
    titles = {"Name": "name", "Key": "preview", "Limit": "limit", "State": "state", "Created": "created"}
    columns = [
        *(Column(title, itemgetter(name), folded=True) for title, name in titles.items()),
        Column("Last used", lambda row: row["stale"] or row["used"], folded=True),
    ]
    if screen.width < WIDE_ENOUGH_FOR_COLUMNS:
        columns = [Column("Key", _one_cell, folded=True)]
    # The id is whole, to be copied into `reelbook keys revoke`.
    screen.print(table([*columns, Column("Id", itemgetter("id"))], rows))


def _one_cell(row: Mapping[str, str]) -> str:
    """A key in one cell, for a screen too narrow for its columns."""
    used = row["stale"] or f"used {row['used']}"
    about = [row["name"], row["preview"], row["limit"], row["state"], f"made {row['created']}", used]
    return " · ".join(filter(None, about))
