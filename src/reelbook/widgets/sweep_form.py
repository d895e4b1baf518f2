"""The form of a sweep: a template and what varies, what that would buy, and the earlier sweeps."""

from __future__ import annotations

from math import prod
from typing import Any

import traitlets

from reelbook.errors import ConfigurationError, InvalidInput, InvalidTemplate, ReelbookError
from reelbook.explore import Plan, Sweep, SweepRun
from reelbook.explore.axes import parsed, typed
from reelbook.explore.designs import DESIGNS, MAX_CELLS
from reelbook.explore.plan import CONFIRM_ABOVE_USD
from reelbook.explore.sweep import RESERVED, slot_name
from reelbook.explore.templates import Template, is_plain
from reelbook.explore.variations import Variations, variations
from reelbook.explore.wildcards import STYLES, Values, by_name
from reelbook.requests import LONGEST_TEXT, JobRequest, options
from reelbook.session import Clip, Job, Session

from ..text import matrix as matrix_words
from ..text import sweep_form as words
from .base import Callbacks, session_of
from .bundle import packed
from .clip_serving import ServesClips
from .prompt_form import OffersPrompts

EARLIER = 8  # shown at most
COUNTED = 500  # a larger grid's other designs are only counted once they are chosen


class SweepForm(OffersPrompts, ServesClips):
    """Asks for a sweep: a template, the values of its slots, seeds and lengths; says what they cost first.

    `SweepForm(session)`; without a session `reelbook.connect()`. Observe, link or set `template`, `axes` (a
    dict of what is typed for each axis: {"animal": "fox, heron", "seed": "1-4"}), `design` ("grid", "pairs",
    "one-at-a-time", "sample", "latin-hypercube") and `sample`, how many clips the last two make. `wildcards`
    is a mapping or a folder of text files for `__animal__`; `__styles__` are the Styles of the home. What
    costs more than `confirm_above_usd` is bought at a second press. `sweep` is the Sweep of what is typed,
    None while that can't be read.

    `on_run(callback)` says what happens to a SweepRun that was begun, resumed or is only to be looked at::

        form, place = rb.SweepForm(session), ipywidgets.VBox()
        form.on_run(lambda run: setattr(place, "children", [rb.Matrix(run)]))
        ipywidgets.VBox([form, place])
    """

    _esm = packed("sweep_form")

    on_run = Callbacks[[SweepRun]]("`callback(run)` is called with a run that is to be shown.")

    template = traitlets.Unicode(help="The prompt, with slots and choices.").tag(sync=True)
    axes = traitlets.Dict(help="What is typed for each axis.").tag(sync=True)
    design = traitlets.Enum(DESIGNS, "grid", help="Which cells of the grid are made.").tag(sync=True)
    sample = traitlets.Int(8, min=1, help="How many cells a sample has.").tag(sync=True)
    confirm_above_usd = traitlets.Float(CONFIRM_ABOVE_USD, help="The cost above which it asks a second time.")
    words = traitlets.Dict(help="What the page says of it.").tag(sync=True)
    limits = traitlets.Dict({"template": LONGEST_TEXT, "sample": MAX_CELLS}).tag(sync=True)
    earlier: Any = traitlets.List(help="The sweeps there are, newest first.").tag(sync=True)

    def __init__(self, session: Session | None = None, *, wildcards: Any = None, **traits: Any) -> None:
        self.session = session = session_of(self, session)
        self.wildcards: dict[str, Values] = {STYLES: self.styles, **by_name(wildcards)}
        self.sweep: Sweep | None = None
        self._plan: Plan | None = None
        self._variations: Variations | None = None
        self._begun = False  # what is typed was begun, and isn't bought again before it changes
        self._open: dict[str, SweepRun] = {}
        traits.setdefault("axes", {"seed": "1-2", "duration_seconds": "2"})
        super().__init__(**traits)
        self._endings += (session.subscribe(self._session_changed),)
        self.refresh()
        if not session.closed:
            session._refresh_balance()

    def vary(self, clip: Job | JobRequest) -> None:
        """Plans variations of a clip from text: the same, with its seed and the next three.

        A clip made for a sweep brings the slots of its template. The row "Vary" in the panel varies something
        other than the seed. Raises InvalidInput for a clip from an image and for an unknown request.
        """
        request = clip if isinstance(clip, JobRequest) else clip.request
        if request is None:
            raise InvalidInput("This job is known by its id alone, so what it asked for isn't known.")
        if request.mode != "text-to-video":
            raise InvalidInput("A clip from an image has no seed and no shape to vary.")
        made = None if isinstance(clip, JobRequest) else Sweep.of(self.session, clip)
        self._variations = variations(request, made)
        self._on_vary("seed")
        self.send({"name": "look"})  # whoever pressed Vary may not see the form

    def begin(self, *, confirm: bool = False) -> SweepRun:
        """Buys what is planned, as the button does, and returns its run.

        Raises ConfirmationNeeded above `confirm_above_usd` without `confirm`, and InvalidInput for what can't
        be read or paid; nothing is sent then.
        """
        run = SweepRun(self.session, self._readable())
        run.start(confirm=confirm, confirm_above_usd=self.confirm_above_usd)
        self._begun = True
        self._show(run)
        return run

    def update(self) -> None:
        self.words = {**self._composed(), "looks": bool(self.on_run)}

    def _composed(self) -> dict[str, Any]:
        sweep, plan, problems = None, None, dict[str, str]()
        slots, count, note = list[str](), 1, ""
        values = _values(self.axes, problems)
        try:
            read = Template(self.template, {**self.wildcards, **values})
            slots, count = list(read.slots), read.count
        except InvalidTemplate as error:
            problems["template"] = str(error)
        # The typed values of each slot of the template, then of each option of a request.
        axes = {name: str(self.axes.get(name, "")) for name in dict.fromkeys([*slots, *options()])}
        sizes = {name: len(values[name]) if name in values else None for name in axes}
        counts: dict[str, int | None] = dict.fromkeys(words.DESIGNS)
        empty = [name for name in slots if not axes[name].strip()]
        whole = count * prod(size for size in sizes.values() if size)
        if not self.template.strip():
            note = words.NO_PROMPT
        elif empty:
            note = words.NO_VALUES.format(slot=f"{{{empty[0]}}}")
        elif not problems:
            counts["grid"] = whole
            try:
                sweep = self._sweep(axes, self.design)
                plan = None if self.session.closed else sweep.plan(self.session)
            except (InvalidInput, ConfigurationError) as error:
                note = str(error)
        # In one step: a press that comes while the plan is recomputed applies to the one that is shown.
        self.sweep, self._plan = sweep, plan
        if counts["grid"] is not None:
            for name in ("pairs", "one-at-a-time"):
                counts[name] = self._count(axes, name, whole)
        lines, buttons, off = list[list[str]](), list[list[str]](), note
        if plan is not None and sweep is not None:
            limit = self.session.facts.requests_limit
            lines = words.plan_lines(plan, requests_limit=limit)
            note = " ".join([*plan.notes, words.first_words(sweep)])
            off = " ".join(plan.problems)
            answer = matrix_words.answer_words(plan, self.confirm_above_usd)
            buttons = [["begin", matrix_words.buy_words(plan), answer]]
            if self._begun:
                lines, buttons, note, off = [], [], words.BEGUN, ""
        varies = []  # what can be varied in the clip: name, label and whether it is the current one
        if (found := self._variations) is not None and self.template == found.template:
            for name in found.several:
                varies.append([*words.axis_row(name, None)[:2], self.axes == found.axes(name)])
        return {
            "rows": [words.axis_row(name, sizes[name]) for name in axes],
            "varies": varies,
            "designs": words.designs(counts),
            "lines": lines,
            "note": note,
            "off": off,
            "buttons": buttons,
            "problems": problems,
        }

    def _sweep(self, axes: dict[str, str], design: Any) -> Sweep:
        size = self.sample if design in ("sample", "latin-hypercube") else None
        given: dict[str, Any] = {name: text for name, text in axes.items() if text.strip()}
        return Sweep(self.template, wildcards=self.wildcards, design=design, sample=size, **given)

    def _count(self, axes: dict[str, str], design: str, whole: int) -> int | None:
        if design == self.design and self.sweep is not None:
            return len(self.sweep.cells)
        if whole > COUNTED:
            return None
        try:
            return len(self._sweep(axes, design).cells)
        except ReelbookError:
            return None

    def _readable(self) -> Sweep:
        if self.sweep is None:
            raise InvalidInput(str(self.words.get("note") or words.NO_PROMPT))
        return self.sweep

    def _show(self, run: SweepRun) -> None:
        if not self.on_run:
            self.say(f"Begun. rb.Matrix(rb.Sweep.open(session, {run.id!r})) shows it.")
        self.on_run.tell(run)
        self._look_for_earlier()
        if run.id is not None:
            run.on_done(lambda _: self._look_for_earlier())
        self.refresh()

    def _look_for_earlier(self) -> None:
        if self.session.closed:
            return
        found = []
        for each in self.session.sweeps()[:EARLIER]:
            missing = self._run_of(each.id).plan() if each.state in ("paused", "stopped") else None
            found.append(words.earlier(each, missing))
        self.earlier = found

    def _run_of(self, sweep: str) -> SweepRun:
        if sweep not in self._open:
            self._open[sweep] = Sweep.open(self.session, sweep)
        return self._open[sweep]

    def clip_of(self, key: str) -> Clip | None:
        if key not in {each["id"] for each in self.earlier}:
            return None
        jobs = (cell.job for cell in self._run_of(key).cells)
        return next((job.clip for job in jobs if job is not None and job.clip is not None), None)

    def _session_changed(self, job: Job | None) -> None:
        if job is None or not job.running:
            self._live.changed()

    @traitlets.observe("template", "axes", "design", "sample")
    def _edited(self, _: object) -> None:
        self._begun = False
        if self.message["tone"] == "info":
            self.say("")
        if self._endings:
            self.refresh()

    def _on_hello(self) -> None:
        with self.updating("Looking for sweeps"):
            self._look_for_earlier()

    def _on_begin(self, answer: Any) -> None:
        plan = self._plan  # the answer may have been to an earlier one
        if plan is None or self._begun:
            return
        if matrix_words.answer_words(plan, self.confirm_above_usd) in ("", answer):
            self.begin(confirm=bool(answer))

    def _on_look(self) -> None:
        self._show(SweepRun(self.session, self._readable()))

    def _on_vary(self, axis: str) -> None:
        if (found := self._variations) is not None and axis in found.several:
            with self.hold_trait_notifications():
                self.template, self.axes = found.template, found.axes(axis)

    def _on_slot(self, before: str, marked: str, after: str, axes: dict[str, str]) -> dict[str, Any]:
        """Turns the words marked in the prompt into a slot, with themselves as its first value."""
        if not is_plain(marked):
            raise InvalidInput("Mark words without braces: they become a slot.")
        name = slot_name(marked, {*axes, *RESERVED})
        with self.hold_trait_notifications():
            self.template = f"{before}{{{name}}}{after}"
            self.axes = {**axes, name: f"{typed([marked])}, "}
        return {"axis": name}

    def _on_code(self, kind: Any) -> dict[str, Any]:
        return {"text": self._readable().as_code(kind)}

    def _on_open(self, run: str) -> None:
        self._show(self._run_of(run))

    def _on_resume(self, run: str) -> None:
        self._run_of(run).resume()
        self._on_open(run)


def _values(axes: dict[str, Any], problems: dict[str, str]) -> dict[str, tuple[object, ...]]:
    """The typed values of each axis; what can't be read becomes a problem of that axis."""
    found = {}
    for name, text in axes.items():
        try:
            found[name] = tuple(dict.fromkeys(parsed(str(text))))
        except InvalidInput as error:
            problems[name] = str(error)
    return {name: values for name, values in found.items() if values}
