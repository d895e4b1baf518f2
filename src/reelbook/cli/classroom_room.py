"""`reelbook classroom serve`, `report` and `wheels`: a room, its report, and what students install."""

from __future__ import annotations

import io
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import settings, wire
from ..errors import ConnectionFailed, InvalidInput
from ..formatting import count, dollars, hour, terminal_line
from .console import require_yes, say
from .options import MOST_USD, Home, Which, Yes, open_session, option

if TYPE_CHECKING:
    from ..classroom.room.app import Room
    from ..classroom.room.store import RoomSettings
    from ..session import Session

USUAL_PLACES, MOST_PLACES = 40, 10_000
PYTHONS = "3.11,3.12,3.13"
PLATFORMS = "win_amd64,macosx_14_0_arm64,manylinux_2_28_x86_64"  # av 18 has no wheels for macOS 13


def serve(
    students: Annotated[
        Path | None, option("A CSV file with the names that may join. Default: anybody.", dir_okay=False)
    ] = None,
    places: Annotated[
        int | None, option(f"How many may join. Default: {USUAL_PLACES}.", min=1, max=MOST_PLACES)
    ] = None,
    cap: Annotated[
        float | None,
        option("What each student may spend. Default: 2.00.", metavar="USD", min=0.01, max=MOST_USD),
    ] = None,
    class_cap: Annotated[
        float | None,
        option("What all together may spend. Default: no such cap.", metavar="USD", min=0.01, max=MOST_USD),
    ] = None,
    expires: Annotated[
        str | None,
        option("When the class ends: 17:00, or 2026-11-25T17:00. Default: at Ctrl-C.", metavar="TIME"),
    ] = None,
    max_duration: Annotated[
        int | None,
        option("The longest clip, in seconds. Default: 10.", min=wire.MIN_SECONDS, max=wire.MAX_SECONDS),
    ] = None,
    name: Annotated[str | None, option("What the class is called.")] = None,
    code: Annotated[
        str | None, option("The class's code. Default: that of the class that goes on, or a fresh one.")
    ] = None,
    host: Annotated[str | None, option("The address to listen on. Default: all of this computer's.")] = None,
    port: Annotated[
        int | None, option("Default: the class's last one, 8080, or a free one.", min=1, max=65535)
    ] = None,
    address: Annotated[str | None, option("A host name by which students reach this computer.")] = None,
    tls_cert: Annotated[Path | None, option("A certificate, for https.", exists=True, dir_okay=False)] = None,
    tls_key: Annotated[Path | None, option("The certificate's key.", exists=True, dir_okay=False)] = None,
    service: Which = "auto",
    yes: Yes = False,
    home: Home = None,
) -> None:
    """Serve a class from this computer, until Ctrl-C: students join by a code, and nobody has your key.

    Started again after a crash with the same home, it goes on: names, keys, queue and clips are as they were,
    and nothing is bought twice.
    """
    import ssl

    from ..classroom import roster
    from ..classroom.room import serving

    if (tls_cert is None) != (tls_key is None):
        raise typer.BadParameter("--tls-cert and --tls-key belong together.")
    kept, known = serving.kept_class(settings.home(home), code)
    listed = [] if students is None else [*known, *roster.read(students)]
    if listed:
        places = len(set(map(roster.name_key, listed)))
    given: dict[str, Any] = {
        "name": name,
        "places": places if kept or places else USUAL_PLACES,
        "cap_usd": cap,
        "class_cap_usd": class_cap,
        "expires_at": None if expires is None else end_time(expires),
        "max_seconds": max_duration,
    }
    terms = {each: value for each, value in given.items() if value is not None}
    with open_session(service, home) as session:
        if session.service == "live":
            require_yes(
                f"Students' clips are paid by your key at {session.base_url}: {_most(terms, kept)}.\n"
                "Serve them?",
                yes=yes,
                stake="Students would spend money",
                untouched="Nothing was started.",
            )
        certificate = (tls_cert, tls_key) if tls_cert and tls_key else None
        code = kept.code if kept else code
        with serving.opened_room(
            session, code, students=listed, host_name=address, certificate=certificate, **terms
        ) as room:
            _provide(session, room)
            listening = serving.listen(room, host or serving.EVERYWHERE, port)
            try:
                serving.serve(room, listening, on_started=lambda: introduce(room))
            except ssl.SSLError:
                raise InvalidInput(
                    f"{tls_cert} and {tls_key} aren't the PEM files of a certificate and its key."
                ) from None
            say("Stopped. Run the same command again: the class goes on.")


def report(
    code: Annotated[str | None, option("The class's code. Default: the one that was served last.")] = None,
    out: Annotated[Path | None, option("Where the files go. Default: here.", file_okay=False)] = None,
    home: Home = None,
) -> None:
    """Write a class's report: its spending as a table, and its clips as a page that needs no network.

    Nothing is asked of the service, and the class may go on meanwhile.
    """
    from ..classroom.room import report as reports
    from ..classroom.room.numbers import classes

    with closing(classes(settings.home(home), code)) as found:
        if (store := next(found, None)) is None:
            which = "was opened in this home yet" if code is None else "of this home has that code"
            raise InvalidInput(f"No class {which}.")
        held = store.settings()
        lines, _ = reports.sums(store)
        written = reports.write(store, out or Path.cwd())
        spent, reserved = store.money()
    say(f"{held.name}, {reports.period(held)}")
    width = max((len(line.name) for line in lines), default=0)
    for line in lines:
        clips, spent_usd = count(line.clips, "clip"), dollars(line.spent_usd)
        say(f"  {terminal_line(line.name):<{width}}  {clips:>9}  {spent_usd:>8}")
    say(f"Spent in all: {dollars(spent)}.")
    if reserved:
        say(f"Still reserved, for clips on their way or never answered: {dollars(reserved)}.")
    say(f"Table: {written.table}")
    beside = " Its clips are beside it." if written.beside else ""
    say(f"{count(written.clips, 'clip')}: {written.page}.{beside}")


def wheels(
    python: Annotated[str, typer.Option(metavar="3.11,…", help="The Pythons that students have.")] = PYTHONS,
    platform: Annotated[
        str, typer.Option(metavar="NAME,…", help="Their platforms, as wheels name them.")
    ] = PLATFORMS,
    to: Annotated[
        Path | None, option("Where they go. Default: the home, whose rooms serve them.", file_okay=False)
    ] = None,
    home: Home = None,
) -> None:
    """Gather what students install, while there is a network: the room serves it where there is none.

    It takes a few minutes and, with the usual Pythons and platforms, about 700 MB.
    """
    from ..classroom.wheels import Target, folder_of, gather

    folder = to or folder_of(settings.home(home))
    targets = [Target(each, where) for each in _parts(python) for where in _parts(platform)]
    say("Reelbook's own wheel is made first, then pip downloads what each target needs.")
    missing = 0
    for target, why in gather(folder, targets):
        missing += bool(why)
        say(f"{target}: {why or 'complete.'}")
    found = [path.stat().st_size for path in folder.glob("*.whl")]
    say(f"{count(len(found), 'wheel')} in {folder}, {sum(found) / 1e6:.0f} MB.")
    raise typer.Exit(bool(missing))


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def end_time(text: str, now: datetime | None = None) -> float:
    """Epoch seconds of a time of today, or of a date with its time. Raises typer.BadParameter."""
    now = now or datetime.now().astimezone()
    try:
        if "T" in text or "-" in text:
            at = datetime.fromisoformat(text)
            at = at if at.tzinfo else at.astimezone()
        else:
            hour, minute = (int(part) for part in text.split(":"))
            at = now.replace(hour=hour, minute=minute, second=0, microsecond=0)
    except ValueError:
        raise typer.BadParameter(
            "A time looks like 17:00, or 2026-11-25T17:00.", param_hint="--expires"
        ) from None
    if at <= now:
        tomorrow = (now + timedelta(days=1)).strftime("%Y-%m-%d")
        raise typer.BadParameter(
            f"{text} has passed. For tomorrow: {tomorrow}T{at.strftime('%H:%M')}", param_hint="--expires"
        )
    return at.timestamp()


def introduce(room: Room) -> None:
    """Says where the class is, and what the teacher needs."""
    from ..classroom.room.codes import join_link, qr_code
    from ..classroom.wheels import complete_targets, folder_of

    held, url, now = room.store.settings(), room.url, room.store.clock()
    say(f"{held.name}\n")
    if not held.open(now):
        say("It has ended: students see their clips, and nobody can order any more.\n")
    if (picture := qr_code(join_link(url, held.code))) is not None:
        drawn = io.StringIO()
        picture.terminal(out=drawn, compact=True, border=2)
        say(drawn.getvalue())
    say(f"Students open  {url}")
    say(f"Code           {held.code}")
    if held.expires_at is not None:
        say(f"Until          {hour(held.expires_at, now)}")
    say(f"Each may spend {dollars(held.cap_usd)}\n")
    say(f"Your page      {url}/room")
    say(f"Its token      {room.token.reveal()}\n")
    if not room.tls:
        say(
            "It is plain HTTP: on an open network others can read what is sent. Students' keys are good for "
            "this class only."
        )
    if not complete_targets(folder_of(room.session.home)):
        say("Students install Reelbook from here once you have run: reelbook classroom wheels")
    if picture is None:
        say("To show a QR code here: pip install segno")
    say("Ctrl-C stops it.")


def _most(terms: dict[str, Any], kept: RoomSettings | None) -> str:
    from ..classroom.room.store import USUAL_CAP_USD

    terms = {"cap_usd": USUAL_CAP_USD, **(vars(kept) if kept else {}), **terms}
    if terms.get("class_cap_usd") is not None:
        return f"at most {dollars(terms['class_cap_usd'])} in all"
    cap, seats = terms["cap_usd"], terms["places"]
    if seats is None:
        return f"at most {dollars(cap)} for each student, however many join"
    return f"at most {dollars(cap)} for each of {count(seats, 'student')}, {dollars(cap * seats)} in all"


def _provide(session: Session, room: Room) -> None:
    """Lifts the limits of one's own sandbox, and warns if the caps come to more than the balance."""
    held = room.store.settings()
    most_usd = held.whole_cap_usd or 0.0
    if session.sandbox is not None:
        session.sandbox.settings(rate_limiting=False)  # play money, and no other class asks it
    try:
        balance_usd = session.balance().balance_usd
    except ConnectionFailed as error:  # students see their clips, and order what is made later
        say(f"{error} The class begins without it, and clips wait until it answers.", err=True)
        return
    if most_usd > balance_usd and session.sandbox is not None:
        session.sandbox.settings(balance_usd=most_usd)
        say(f"The sandbox's play money was raised to {dollars(most_usd)}, so that all caps are covered.")
    elif most_usd > balance_usd:
        say(
            f"The caps come to {dollars(most_usd)}, and the balance is {dollars(balance_usd)}: whoever "
            "comes late may find nothing left. Nobody can spend more than there is.",
            err=True,
        )
