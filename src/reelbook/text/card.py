"""What a card shows of a job or a clip: everything but the bar's share and the lines that count seconds."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypedDict

from reelbook import wire

from ..formatting import Line, counting, dollars, seconds
from ..session.clip import clip_file_name

if TYPE_CHECKING:
    from reelbook.session import Clip, EarlierRun, JobRequest, JobView

RUNNING_STAGE = "The clip appears here when it is done."
NOT_WATCHING = "Not watching. The job goes on and is billed."
ALMOST_DONE = "waiting for the service"
NOT_KEPT = "There is no ledger: this clip's id is gone when the kernel ends."
CODE_ACTION = ["code", "Copy as code"]

# state: the word shown, and the tone of its dot (wait, run, done, fail, odd)
_STATES = {
    "sending": ("Sending", "wait"),
    wire.PENDING: ("Pending", "wait"),
    wire.PROCESSING: ("Processing", "run"),
    wire.COMPLETED: ("Completed", "done"),
    wire.FAILED: ("Failed", "fail"),
    "refused": ("Refused", "fail"),
    "uncertain": ("Not certain", "odd"),
    "lost": ("Lost", "fail"),
    "not accepted": ("Not accepted", "wait"),
    "cancelled": ("Taken back", "wait"),
}
FINAL = {wire.COMPLETED, wire.FAILED, "refused", "uncertain", "lost", "not accepted", "cancelled"}
_SIZES = {"16:9": [640, 360], "9:16": [360, 640], "1:1": [480, 480]}


class Face(TypedDict):
    """Everything on a card except its bar's share and its counting lines. The page draws it as it is."""

    prompt: str
    word: str
    tone: str
    shape: list[int] | None  # None: no stage
    stage: str
    note: str
    aside: str
    bar: str  # "": none, "open": running with no figure, "figure": as far as `progress`
    money: str
    actions: list[list[str]]  # name, label
    mark: str
    id: str
    clip: int  # 0: none; another number: another clip
    file: str
    codec: str
    fps: float  # frames a second
    seconds: float  # of the clip


def empty_face() -> Face:
    """A card without a job."""
    return Face(
        prompt="", word="", tone="wait", shape=_SIZES["16:9"], stage=RUNNING_STAGE, note="", aside="", bar="",
        money="", actions=[], mark="", id="", clip=0, file="", codec="", fps=24.0, seconds=0.0,
    )  # fmt: skip


def job_face(
    view: JobView,
    request: JobRequest | None,
    *,
    request_id: str | None,
    clip: Clip | None,
    service: str,
    prompt: str | None = None,
    finding_out: bool = False,
    word_would_tell: bool = False,
    kept: bool = True,
) -> Face:
    """A job's card. `clip` is the finished clip, None while it isn't on the disk.

    `kept` is whether the session has a ledger on the disk.

    `prompt` is shown if there is no request: a job that an agent tool submitted has only a prompt.
    `finding_out`: the service is being asked what became of the job. `word_would_tell`: the answer would be
    certain if nobody else used the account, which only the person knows.
    """
    face = empty_face()
    word, tone = _STATES.get(view.state, (view.state, "odd"))
    final = view.state in FINAL
    done = view.state == wire.COMPLETED
    if view.state == "sending" and view.waiting_seconds is not None:
        word = "Waiting"
    if view.unheard and not final:
        word = "Asking"
    face["prompt"] = request.prompt if request else prompt or f"Job {request_id}"
    face["word"], face["tone"] = word, tone
    face["shape"] = _shape(request, clip) if done or not final else None
    face["stage"] = "Your image. " + RUNNING_STAGE if request and request.image else RUNNING_STAGE
    face["note"] = " ".join(filter(None, [_note(view, final), "" if kept else NOT_KEPT]))
    face["aside"] = _aside(view)
    face["bar"] = _bar(view, final, clip)
    face["money"] = _money(view)
    face["actions"] = _actions(view, request, request_id, clip, final)
    if view.state == "uncertain":
        if finding_out:
            face["aside"] = "Asking for balance and usage."
        else:
            known = [["only_me", "Only I use this account"]] if word_would_tell else []
            face["actions"] = [["find_out", "Find out"], *known, *face["actions"]]
    face["mark"] = "sandbox" if service == "sandbox" or (clip is not None and clip.sandbox) else ""
    face["id"] = request_id or ""
    if clip is not None:
        _with_clip(face, clip)
    return face


def clip_face(clip: Clip) -> Face:
    """A player's caption."""
    face = empty_face()
    face["prompt"] = clip.request.prompt if clip.request else clip.path.name
    face["shape"] = _shape(clip.request, clip)
    face["money"] = "" if clip.cost_usd is None else dollars(clip.cost_usd)
    face["mark"] = "sandbox" if clip.sandbox else ""
    face["id"] = clip.request_id
    _with_clip(face, clip)
    if clip.request is not None:
        face["actions"] = [*face["actions"], CODE_ACTION]
    return face


def clip_lines(clip: Clip) -> list[Line]:
    """The facts of a finished clip: length, size, seed, and the time it took."""
    lines: list[Line] = [[f"{clip.duration_seconds:.1f} s"], [f"{clip.width} × {clip.height}"]]
    if clip.request is not None and clip.request.seed is not None:
        seed = clip.request.seed
        lines += [["random seed" if seed == wire.RANDOM_SEED else f"seed {seed}"]]
    if clip.took_seconds is not None:
        lines += [[f"took {seconds(clip.took_seconds)}"]]
    return lines


def job_lines(view: JobView, clip: Clip | None, *, requests_limit: int | None = None) -> list[Line]:
    """The lines under the bar: progress, times, and waiting for the request budget."""
    if view.state == wire.COMPLETED:
        return clip_lines(clip) if clip is not None else _fetching(view)
    if view.state in FINAL:
        return []
    waits: Line | None = None
    if view.waiting_seconds is not None and (view.watched or view.state == "sending"):
        budget = f"The key's {requests_limit} requests are" if requests_limit else "The key's requests are"
        verb = "Sending" if view.state == "sending" else "Asking again"
        waits = [f"{budget} used up. {verb} in ", counting(view.waiting_seconds, -1), "."]
    if view.state == "sending":
        return [waits or ["Being sent."]]
    so_far: Line = [counting(view.elapsed_seconds, 1), " so far"]
    lines = [_figure(view), so_far]
    if not view.watched:
        return lines[1:]
    if waits:
        return [*lines, waits]
    if view.asked_seconds_ago is not None:
        asked: Line = ["asked ", counting(view.asked_seconds_ago, 1), " ago"]
        if view.next_ask_in_seconds:
            asked += [", next in ", counting(view.next_ask_in_seconds, -1)]
        lines.append(asked)
    return lines


def _figure(view: JobView) -> Line:
    if view.unheard:
        line: Line = ["The service hasn't said yet how far it is"]
    elif view.state == wire.PENDING:
        line = ["Accepted, not begun yet"]
    elif view.progress is None:
        line = ["No figure yet" if view.state == wire.PROCESSING else "Not finished yet"]
    else:
        line = [f"{int(view.progress * 100)} %"]
    if view.remaining_seconds is not None and view.watched:
        line += [" · about ", counting(view.remaining_seconds, -1), " left"]
    elif almost_done(view) and view.watched:
        line += [f" · {ALMOST_DONE}"]
    return line


def almost_done(view: JobView) -> bool:
    """Whether nothing but the service's "completed" is missing, however long that takes."""
    return view.progress is not None and int(view.progress * 100) >= 99


def _fetching(view: JobView) -> list[Line]:
    if view.error:
        return []
    if view.download is None:
        return [["Waiting to fetch the clip"]]
    return [[f"Fetching the clip · {int(view.download * 100)} %"]]


def _note(view: JobView, final: bool) -> str:
    if view.error:
        return f"{view.error} Reelbook asks again." if view.watched and not final else view.error
    if view.state == "uncertain":
        bill = "" if view.estimated_cost_usd is None else f" {dollars(view.estimated_cost_usd)}"
        return (
            "The connection broke before the service answered. It may be making this clip, and it may bill"
            f"{bill or ' it'}. Reelbook didn't send it again."
        )
    if view.state == "lost":
        return "The service accepted this clip, and its id never arrived. It counts as spent."
    if view.state == "not accepted":
        return "The service never answered, and nothing was paid for it. Send it again if you want the clip."
    if not final and not view.watched:
        return NOT_WATCHING
    return ""


def _aside(view: JobView) -> str:
    if view.state == wire.FAILED:
        text = "Whether failed jobs are billed isn't documented."
        before, after = view.balance_before_usd, view.balance_after_usd
        if before is not None and after is not None:
            text += (
                f" Your balance stayed at {dollars(after)}."
                if dollars(before) == dollars(after)
                else f" Your balance went from {dollars(before)} to {dollars(after)}, other clips included."
            )
        return text
    if view.state == "refused":
        return "The service took no job."
    if view.unanswered and view.state != "uncertain":
        one = view.unanswered == 1
        what = "An earlier attempt was" if one else f"{view.unanswered} earlier attempts were"
        return f"{what} never answered and may be billed too."
    if view.state not in _STATES:
        return "Reelbook doesn't know this state. It goes on asking."
    if view.from_earlier_run:
        return _earlier(view.earlier_run, final=view.state in FINAL)
    return ""


_DOUBTS: Final = {
    "text": "; the cell was recognised by its text alone",
    "pool": '; a pool of threads asked for it that another cell may use too, so only once="…" would tell',
}


def _earlier(run: EarlierRun | None, *, final: bool) -> str:
    """Which run a card's job is from, how that is known, and how to buy another."""
    known_by = None if run is None else run.known_by
    same = {"label": "submission with this label", "sweep": "run of this sweep"}.get(
        known_by or "", "run of this cell"
    )
    said = f"From an earlier {same}: nothing was sent or paid again."
    if run is None:
        return said
    when = f"{run.at.day} {run.at:%b %Y, %H:%M}"
    where = f", in {Path(run.notebook).name}" if run.notebook else ""
    doubt = _DOUBTS.get(run.known_by, "")
    button = ", or Again" if final else ""
    return f"{said} That was on {when}{where}{doubt}. For another clip: again=True in the code{button}."


def _bar(view: JobView, final: bool, clip: Clip | None) -> str:
    if view.state == wire.COMPLETED and clip is None and not view.error:
        return "figure"
    if final:
        return ""
    return "open" if view.progress is None else "figure"


def _money(view: JobView) -> str:
    if view.cost_usd is not None:
        return dollars(view.cost_usd)
    if view.estimated_cost_usd is None or view.state in {wire.FAILED, "refused", "cancelled", "not accepted"}:
        return ""
    return f"about {dollars(view.estimated_cost_usd)}"


def _actions(
    view: JobView, request: JobRequest | None, request_id: str | None, clip: Clip | None, final: bool
) -> list[list[str]]:
    actions = []
    if view.state == "sending":
        actions.append(["cancel", "Don't send"])
    elif not final:
        actions.append(["stop", "Stop watching"] if view.watched else ["watch", "Watch again"])
    elif view.state == wire.COMPLETED and clip is None and view.error:
        actions.append(["watch", "Fetch again"])
    if final and request is not None and request.complete:
        verb = "Send again" if view.state in {"refused", "uncertain", "lost", "not accepted"} else "Again"
        actions.append(["again", f"{verb} · {dollars(request.estimated_cost_usd)}"])
    if request_id:
        actions.append(["copy", "Copy id"])
    return actions


def clip_actions(
    request: JobRequest | None, *, starred: bool, compares: bool, varies: bool
) -> list[list[str]]:
    """What a fresh clip leads to: `compares` and `varies` say which of it somebody answers."""
    actions = [["star", "★ Starred" if starred else "☆ Star"]]
    if compares:
        actions.append(["compare", "Compare"])
    if varies and request is not None and request.image is None:
        actions.append(["vary", "Vary"])
    if request is not None:
        actions.append(CODE_ACTION)
    return actions


def _shape(request: JobRequest | None, clip: Clip | None) -> list[int]:
    if clip is not None:
        return [clip.width, clip.height]
    if request is not None and request.image is not None:
        return [request.image.width, request.image.height]
    return _SIZES.get((request.aspect_ratio if request else None) or "", _SIZES["16:9"])


def _with_clip(face: Face, clip: Clip) -> None:
    # Only a change of this number matters: the page then loads the clip anew.
    face["clip"] = zlib.crc32(str(clip.path).encode()) + 1
    face["file"] = clip_file_name(clip.request, clip.request_id)
    face["codec"] = clip.info.codec
    face["fps"] = clip.frames_per_second
    face["seconds"] = clip.duration_seconds
    face["actions"] = [*face["actions"], ["save", "Save"]]
