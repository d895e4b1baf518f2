"""What a card shows of a job or a clip: its face, its bar and its lines."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final, TypedDict

from reelbook import wire
from reelbook.session import Clip, EarlierRun, Job, JobRequest, JobView

from ..formatting import Line, count, counting, dollars, price, seconds
from ..session.clip import clip_file_name
from ..states import REFUSED, SENDING, STATES, UNCERTAIN, state

RUNNING_STAGE = "The clip appears here when it is done."
NO_FILE = "No file here."
NOT_WATCHING = "Not watching. The job goes on and is billed."
ALMOST_DONE = "waiting for the service"
NOT_KEPT = "There is no ledger: this clip's id is gone when the kernel ends."
CODE_ACTION = ["code", "Copy as code"]

_SIZES = {"16:9": [640, 360], "9:16": [360, 640], "1:1": [480, 480]}


@dataclass(frozen=True)
class ShownJob:
    """A job at one moment, as panels and terminal show it."""

    view: JobView
    request: JobRequest | None = None
    request_id: str | None = None
    clip: Clip | None = None
    prompt: str | None = None  # shown without a request: for an agent tool's job only the prompt is known
    service: str = ""
    submitted_at: datetime | None = None
    picked: bool = False
    note: str = ""
    tags: tuple[str, ...] = ()
    finding_out: bool = False  # the service is being asked what became of it
    settled_if_alone: bool = False  # settled as soon as the person says that nobody else uses the account
    kept: bool = True  # its session has a ledger on the disk

    @classmethod
    def of(cls, job: Job, service: str = "") -> ShownJob:
        """The job as it is now; `service` is its session's."""
        return cls(
            job.view(), job.request, job.request_id, job.clip, job.prompt, service, job.submitted_at,
            job.picked, job.note, job.tags,
        )  # fmt: skip

    @property
    def mark(self) -> str:
        """What tells a drawn clip from a model's: "sandbox", or nothing."""
        return "sandbox" if self.service == "sandbox" or (self.clip and self.clip.sandbox) else ""

    @property
    def fetching(self) -> bool:
        """Whether its clip is on the way, or waits for its turn to be fetched."""
        view = self.view
        return view.state == wire.COMPLETED and self.clip is None and view.watched and not view.error

    def on_disk(self) -> ShownJob:
        """The same, without a clip whose file is gone or damaged."""
        return self if self.clip is None or self.clip._can_be_read else replace(self, clip=None)


class CardFace(TypedDict):
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
    picked: bool | None  # None: nobody could keep it
    remark: str | None  # the person's note; None: there is no place for one
    again: list[list[str]]  # the choices of the action "again", as in `actions`; empty: it is done at once
    mark: str
    id: str
    clip: int  # 0: none; another number: another clip
    file: str
    codec: str
    fps: float  # frames a second
    seconds: float  # of the clip


def empty_face() -> CardFace:
    return CardFace(
        prompt="", word="", tone="wait", shape=_SIZES["16:9"], stage=RUNNING_STAGE, note="", aside="", bar="",
        money="", actions=[], again=[], picked=None, remark=None, mark="", id="", clip=0, file="", codec="",
        fps=24.0, seconds=0.0,
    )  # fmt: skip


def job_face(job: ShownJob) -> CardFace:
    face, view, request, row = empty_face(), job.view, job.request, state(job.view.state)
    face["prompt"] = request.prompt if request else job.prompt or f"Job {job.request_id}"
    face["word"], face["tone"] = row.title, row.tone
    if view.state == SENDING and view.waiting_seconds is not None:
        face["word"] = "Waiting"
    if view.unheard and not row.final:
        face["word"] = "Asking"
    face["shape"] = None if row.missing else shape_of(request, job.clip)
    face["stage"] = "Your image. " + RUNNING_STAGE if request and request.image else RUNNING_STAGE
    if view.state == wire.COMPLETED and job.clip is None and not view.watched:
        face["stage"] = NO_FILE
    face["note"] = " ".join(filter(None, [_note(view), "" if job.kept else NOT_KEPT]))
    face["aside"] = _aside(view)
    if job.fetching or not row.final:
        face["bar"] = "figure" if job.fetching or view.progress is not None else "open"
    face["money"] = price(view.price_usd, view.charge)
    face["actions"], face["again"] = _actions(job), _again(job)
    if view.state == UNCERTAIN and job.finding_out:
        face["aside"] = "Asking the service what was spent."
    face["mark"] = job.mark
    face["id"] = job.request_id or ""
    if job.clip is not None:
        _with_clip(face, job.clip)
        _with_marks(face, job)
    return face


def share_done(view: JobView, clip: Clip | None = None) -> float | None:
    """How full the bar is, 0 to 1: of the making, then of the download. None while there is no figure."""
    return view.download if view.state == wire.COMPLETED and clip is None else view.progress


def bar_share(face: CardFace, view: JobView) -> float | None:
    """The bar of a row, a tile or a cell: 0 to 1; -1: running with no figure; None: no bar."""
    if not face["bar"]:
        return None
    return -1.0 if face["bar"] == "open" else round(share_done(view) or 0.0, 2)


def clip_face(clip: Clip, job: ShownJob | None = None) -> CardFace:
    """A player's caption; `job` is the clip's, where a ledger knows it."""
    face = empty_face()
    face["prompt"] = clip.request.prompt if clip.request else clip.path.name
    face["shape"] = shape_of(clip.request, clip)
    face["money"] = "" if clip.cost_usd is None else dollars(clip.cost_usd)
    face["mark"] = "sandbox" if clip.sandbox else ""
    face["id"] = clip.request_id
    _with_clip(face, clip)
    if job is not None:
        _with_marks(face, job)
    if clip.request is not None:
        face["actions"] = [*face["actions"], CODE_ACTION]
    return face


def clip_lines(clip: Clip) -> list[Line]:
    """The facts of a finished clip: length, size, seed, and the time it took."""
    length, size = f"{clip.duration_seconds:.1f} s", f"{clip.width} × {clip.height}"
    took = "" if clip.took_seconds is None else f"took {seconds(clip.took_seconds)}"
    return [[each] for each in (length, size, seed_words(clip.request), took) if each]


def seed_words(request: JobRequest | None) -> str:
    """The seed: "seed 7", "random seed" where the service chose it, or that a clip from an image has none."""
    if request is None:
        return ""
    if request.seed is None:
        return "from an image, no seed"
    return "random seed" if request.seed == wire.RANDOM_SEED else f"seed {request.seed}"


def asked_words(request: JobRequest | None) -> str:
    """What was asked for besides the prompt: "seed 7 · 5 s · 16:9"; empty where that isn't known."""
    if request is None:
        return ""
    said = [seed_words(request), f"{request.duration_seconds} s", request.aspect_ratio]
    return " · ".join(filter(None, said))


def job_lines(view: JobView, *, requests_limit: int | None = None) -> list[Line]:
    """The lines under the bar until there is a clip: progress, times, and waiting for the request budget."""
    if view.state == wire.COMPLETED:
        if view.error or not view.watched:
            return []
        done = None if view.download is None else int(view.download * 100)
        return [["Waiting to fetch the clip" if done is None else f"Fetching the clip · {done} %"]]
    if state(view.state).final:
        return []
    sending = view.state == SENDING
    waits: Line | None = None
    if view.waiting_seconds is not None and (view.watched or sending):
        budget = f"The key's {requests_limit} requests are" if requests_limit else "The key's requests are"
        verb = "Sending" if sending else "Asking again"
        waits = [f"{budget} used up. {verb} in ", counting(view.waiting_seconds, -1), "."]
    if sending:
        return [waits or ["Being sent."]]
    so_far: Line = [counting(view.elapsed_seconds, 1), " so far"]
    if not view.watched:
        return [so_far]
    lines = [_figure(view), so_far]
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
    elif view.ahead is not None:  # in a class's queue
        line = [f"{count(view.ahead, 'clip')} ahead of yours" if view.ahead else "Yours is sent next"]
    elif view.state == wire.PENDING:
        line = ["Accepted, not begun yet"]
    elif view.progress is None:
        line = ["No figure yet" if view.state == wire.PROCESSING else "Not finished yet"]
    else:
        line = [f"{int(view.progress * 100)} %"]
    if view.remaining_seconds is not None:
        line += [" · about ", counting(view.remaining_seconds, -1), " left"]
    elif almost_done(view):
        line += [f" · {ALMOST_DONE}"]
    return line


def almost_done(view: JobView) -> bool:
    """Whether only the service's "completed" is missing, however long that takes."""
    return view.progress is not None and int(view.progress * 100) >= 99


def _note(view: JobView) -> str:
    final = state(view.state).final
    if view.error:
        return f"{view.error} Reelbook asks again." if view.watched and not final else view.error
    if not final and not view.watched:
        return NOT_WATCHING
    return ""


def _aside(view: JobView) -> str:
    if view.state == wire.FAILED and view.cost_usd is None:
        text = "Whether failed jobs are billed isn't documented."
        before, after = view.balance_before_usd, view.balance_after_usd
        if before is not None and after is not None:
            text += (
                f" Your balance stayed at {dollars(after)}."
                if dollars(before) == dollars(after)
                else f" Your balance went from {dollars(before)} to {dollars(after)}, other clips included."
            )
        return text
    if view.state == REFUSED:
        return "The service took no job."
    if view.unanswered and view.state != UNCERTAIN:
        one = view.unanswered == 1
        what = "An earlier attempt was" if one else f"{view.unanswered} earlier attempts were"
        return f"{what} never answered and may be billed too."
    if view.state not in STATES:
        return "Reelbook doesn't know this state. It goes on asking."
    if view.earlier_run is not None:
        return _earlier(view.earlier_run, final=state(view.state).final)
    return ""


_DOUBTS: Final = {
    "text": "; the cell was recognised by its text alone",
    "pool": '; a pool of threads asked for it that another cell may use too, so only once="…" would tell',
}


def _earlier(run: EarlierRun, *, final: bool) -> str:
    same = {"label": "submission with this label", "sweep": "run of this sweep"}
    which = same.get(run.known_by, "run of this cell")
    when = f"{run.at.day} {run.at:%b %Y, %H:%M}"
    where = f", in {Path(run.notebook).name}" if run.notebook else ""
    return (
        f"From an earlier {which}: nothing was sent or paid again. That was on {when}{where}"
        f"{_DOUBTS.get(run.known_by, '')}. For another clip: again=True in the code{', or Again' * final}."
    )


def _actions(job: ShownJob) -> list[list[str]]:
    view, request, row = job.view, job.request, state(job.view.state)
    actions = []
    if view.state == UNCERTAIN and not job.finding_out:
        actions.append(["find_out", "Find out"])
        if job.settled_if_alone:
            actions.append(["only_me", "Only I use this account"])
    if view.state == SENDING:
        actions.append(["cancel", "Don't send"])
    elif view.ahead is not None:
        actions.append(["cancel", "Take back"])
    elif not row.final:
        actions.append(["stop", "Stop watching"] if view.watched else ["watch", "Watch again"])
    elif view.state == wire.COMPLETED and job.clip is None and not job.fetching:
        actions.append(["watch", "Fetch again"])
    if row.final and request is not None and request.complete:
        verb = "Send again" if row.group == "uncertain" or view.state == REFUSED else "Again"
        label = f"{verb} · {dollars(request.estimated_cost_usd)}"
        actions.append(["again", "Again…" if _again(job) else label])
    if job.request_id:
        actions.append(["copy", "Copy id"])
    return actions


def _again(job: ShownJob) -> list[list[str]]:
    """The choice between seeds, for a clip that was made with a known one."""
    request, made = job.request, job.view.state in (wire.COMPLETED, wire.FAILED)
    if request is None or request.seed in (None, wire.RANDOM_SEED) or not made:
        return []
    cost = dollars(request.estimated_cost_usd)
    return [["again", f"Same seed · {cost}"], ["another", f"Another seed · {cost}"]]


def clip_actions(job: ShownJob, *, compares: bool, varies: bool) -> list[list[str]]:
    """What a finished clip offers: `compares` and `varies` say whether something answers those."""
    actions = [["compare", "Compare"]] if compares else []
    if varies and job.request is not None and job.request.image is None:
        actions.append(["vary", "Vary"])
    if job.request is not None:
        actions.append(CODE_ACTION)
    return actions


def _with_marks(face: CardFace, job: ShownJob) -> None:
    face["picked"] = job.picked
    face["remark"] = job.note if job.picked or job.note else None
    face["actions"] = [["pick", "★ Picked" if job.picked else "☆ Pick"], *face["actions"]]


def shape_of(request: JobRequest | None, clip: Clip | None = None) -> list[int]:
    """Width and height of the clip, or those that what was asked for lets expect."""
    if clip is not None:
        return [clip.width, clip.height]
    if request is not None and request.image is not None:
        return [request.image.width, request.image.height]
    return _SIZES.get((request.aspect_ratio if request else None) or "", _SIZES["16:9"])


def _with_clip(face: CardFace, clip: Clip) -> None:
    # Only a change of this number matters: the page then loads the clip anew.
    face["clip"] = zlib.crc32(str(clip.path).encode()) + 1
    face["file"] = clip_file_name(clip.request, clip.request_id)
    face["codec"] = clip.info.codec
    face["fps"] = clip.frames_per_second
    face["seconds"] = clip.duration_seconds
    face["actions"] = [*face["actions"], ["save", "Save"]]
