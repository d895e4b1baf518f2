"""The matrix of a sweep: its clips in rows, columns and pages, live while they arrive, on one clock."""

from __future__ import annotations

import html
import itertools
import os
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import traitlets

from reelbook.errors import InvalidInput
from reelbook.explore import Axis, Plan, RunCell, Study, Sweep, SweepRun
from reelbook.explore.plan import CONFIRM_ABOVE_USD
from reelbook.formatting import Line
from reelbook.saved_files import free_file
from reelbook.session import Job, Session
from reelbook.session.request_code import request_code
from reelbook.session.session import without_waiting

from ..states import LEFT_OUT, PLANNED, UNCERTAIN
from ..text import matrix as words
from ..text.card import shape_of
from .base import AsksForBalance, Callbacks, session_of
from .bundle import packed
from .clip_serving import Plays, ServesClips
from .compare import MOST as MOST_COMPARED
from .job_actions import OpensOtherPanels
from .notices import follow
from .static_html import picture_html, small_poster, table_html, text_html

if TYPE_CHECKING:
    from reelbook.media.grid import Page, Tile

STILL_CELLS, STILL_BYTES = 36, 30_000  # of all posters in the still form together
PAGE_SETS = ("rows", "columns", "page", "selected", "opened", "by")


class AxisNames(traitlets.List):  # type: ignore[type-arg] # Colab's can't be subscripted
    """A list of names; a single name may be given as a text."""

    def validate(self, obj: Any, value: Any) -> Any:
        return super().validate(obj, [value] if isinstance(value, str) else value)


class Matrix(AsksForBalance, Plays, OpensOtherPanels, ServesClips):
    """The clips of a sweep in a grid: planned, bought, watched while they arrive, played on one clock.

    `Matrix(sweep, session)` shows a sweep as it is planned, with what it costs and the button that buys it;
    `Matrix(run)` one that was begun, also by an earlier kernel. These can be given, observed, linked and set:

    - `rows`, `columns`: the axes that stand there, a name or a list of names. Those that stand in neither
      make pages; `page` says which of them is shown: `{"seed": "2"}`
    - `time`, `playing`, `speed`: the clock, as in Compare; `by`: "time", or "part" to have clips of different
      length begin and end together
    - `selected`: the numbers of the selected cells; `opened`: that of the opened cell, 0 without one
    - `confirm_above_usd`: what costs more is bought at a second press

    `run` is the SweepRun; `chosen` are the jobs of the selected cells. `on_compare(callback)`,
    `on_judge(callback)` and `on_vary(callback)` say what happens at "Compare", "Judge" and "Vary".
    `save("grid.mp4")`, `save("grid.png")` and `save("grid.html")` write the whole grid into one file. Raises
    InvalidInput where an axis isn't one of the sweep's.

        sweep = rb.Sweep("a {animal} in {place}", animal=["fox", "heron"], place=["snow", "fog"], seed=[1, 2])
        rb.Matrix(sweep, session, rows="animal", columns=["place", "seed"])
    """

    _esm = packed("matrix")

    rows: Any = AxisNames(traitlets.Unicode(), help="The axes in rows.").tag(sync=True)
    columns: Any = AxisNames(traitlets.Unicode(), help="The axes in columns.").tag(sync=True)
    page = traitlets.Dict(help="The page shown: a label for each axis that makes pages.").tag(sync=True)
    by = traitlets.Enum(["time", "part"], "time", help="What the clips have in common.").tag(sync=True)
    selected = traitlets.List(traitlets.Int(), help="Numbers of the selected cells.").tag(sync=True)
    opened = traitlets.Int(0, help="Number of the opened cell; 0: none.").tag(sync=True)
    confirm_above_usd = traitlets.Float(CONFIRM_ABOVE_USD, help="The cost above which it asks a second time.")
    shape = traitlets.Float(16 / 9, help="Of the cells, width over height.").tag(sync=True)
    offers = traitlets.List(traitlets.Unicode(), help="What else the page offers.").tag(sync=True)

    on_judge = Callbacks[[Study]]("`callback(study)` is called when Judge is pressed.")

    _sends_news = True

    def __init__(self, sweep: Sweep | SweepRun, session: Session | None = None, **traits: Any) -> None:
        if not isinstance(sweep, Sweep | SweepRun):
            raise InvalidInput(f"Matrix takes a sweep, not {type(sweep).__name__}: rb.Sweep(…).")
        if session is None and isinstance(sweep, SweepRun):
            session = sweep.session
        self.session = session = session_of(self, session)
        self.run: SweepRun = sweep if isinstance(sweep, SweepRun) else SweepRun(session, sweep)
        self.sweep: Any = self.run.sweep
        self._plan: Plan | None = None
        self._greeting: dict[str, Any] = {}  # sent to a new page in one message with its cells
        super().__init__(shape=_shape(self.run.cells), **traits)
        many = [axis.name for axis in self.sweep.axes if len(axis.values) > 1]
        if "rows" not in traits:
            self.rows = [name for name in many if name not in self.columns][:1]
        if "columns" not in traits:
            self.columns = [name for name in many if name not in self.rows][:1]
        self._endings += (session.subscribe(self._session_changed), self.run.subscribe(self._told))
        self.refresh()
        self._endings += (follow(session),)
        if not session.closed:
            session._refresh_balance()

    @property
    def chosen(self) -> tuple[Job, ...]:
        """The jobs of the selected cells, in the order of their selection."""
        jobs = map(self._job_of, self.selected)
        return tuple(job for job in jobs if job is not None)

    def update(self) -> None:
        # Before the cells: a clip that counts as here is among them.
        head_words = self._head_words() if self._page.open else None
        changed = self._changed()
        now = time.monotonic()
        with self.hold_sync():
            self.live = self._busy or self._running
            offered = {"compare": self.on_compare, "vary": self.on_vary, "judge": self.on_judge}
            self.offers = [name for name, callbacks in offered.items() if callbacks]
        if head_words is not None:
            cells = [news for number in changed if len(news := self._cell_news(number, now)) > 1]
            head = self._page.news(now, *head_words)
            if cells or head:
                message = {"name": "cells", **self._greeting, "cells": cells}
                self._greeting = {}
                self.send({**message, **({"head": head} if head else {})})
        self.keep_still()

    @property
    def _at_rest(self) -> bool:
        return self._left and not self._running

    def still(self) -> tuple[str, str]:
        cells, drawn = self.run.cells, itertools.count()
        most = max(900, STILL_BYTES // min(STILL_CELLS, max(1, len(cells))))

        def draw(number: int) -> str:
            poster = self.clip_poster(str(number)) if next(drawn) < STILL_CELLS else b""
            small = small_poster(poster, max_side=200, max_bytes=most)
            return picture_html(small, 'width="160"') or html.escape(self._word(number))

        text, left = self._title(), len(cells) - STILL_CELLS
        tables = []
        for page in self._pages(draw):
            title = f"<div><b>{html.escape(page.title)}</b></div>" if page.title else ""
            lines = [
                [f"<b>{html.escape(label)}</b>", *(str(each or "") for each in drawn_cells)]
                for label, drawn_cells in page.rows
            ]
            tables.append(title + table_html(lines, ["", *page.columns]))
        more = text_html(f"and {left} more" if left > 0 else "")
        return f"{text_html(text)}{''.join(tables)}{more}", f"Matrix: {text}"

    def still_of(self) -> object:
        clips = [None if cell.job is None else cell.job.clip for cell in self.run.cells]
        shown = [(cell.state, clip and clip.path) for cell, clip in zip(self.run.cells, clips, strict=True)]
        return self.rows, self.columns, shown

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Writes the whole grid, all its pages, into one file, and returns where it is.

            matrix.save("grid.mp4")   # one labelled video
            matrix.save("grid.png")   # a contact sheet
            matrix.save("grid.html")  # a page that plays without a network

        Rows, columns and pages stand as they do in the panel. Raises InvalidInput for another ending, if the
        folder doesn't exist, and if the file does without `overwrite`; ReelbookError if the disk refuses.
        Nothing half written stays.
        """
        from reelbook.media.grid import Grid

        from .pages import write_grid

        def draw(number: int) -> Tile:
            file = self.clip_path(str(number))
            return file if file is not None and file.exists() else self._word(number)

        grid = Grid(self._title(), self._pages(draw), self.shape)
        by: Literal["time", "part"] = "part" if self.by == "part" else "time"
        return write_grid(grid, Path(path), by=by, overwrite=overwrite)

    def _session_changed(self, job: Job | None) -> None:
        if not self._running and (job is None or not job.running):
            self._live.changed()

    def _told(self, cell: RunCell | None) -> None:
        self._live.add_news(None if cell is None else cell.number)

    def _changed(self) -> Iterable[int]:
        news = self._live.take_news()
        return [cell.number for cell in self.run.cells if None in news or cell.number in news]

    @property
    def _running(self) -> bool:
        return self.run.state == "running" or any(cell.job and cell.job.running for cell in self.run.cells)

    def _cell_news(self, number: int, now: float) -> dict[str, Any]:
        cell = self.run.cells[number - 1]
        job = None if cell.state in (PLANNED, LEFT_OUT) else cell.job
        shown = None if job is None else self._shown(job)
        face = words.face(cell, shown)
        line = words.time_line(None if shown is None else shown.view)
        return {"n": number, **self._page.news(now, face, {"line": line}, of=str(number))}

    def _head_words(self) -> tuple[dict[str, Any], dict[str, Line]]:
        run, running, plan = self.run, self._running, self._planned()
        problem, left = run.trouble or "", list[Any]()
        if plan is not None and run.id is None:
            said, problem = words.planned(plan), " ".join(plan.problems)
        else:
            said = words.head(
                [cell.state for cell in run.cells],
                state=run.state,
                here=sum(cell.job is not None and cell.job.clip is not None for cell in run.cells),
                bought=[cell.job.view() for cell in run.cells if cell.job and not cell.found],
            )
            if running and run.planned_seconds:
                planned, elapsed = run.planned_seconds, run.elapsed_seconds
                left = words.left_line(run.remaining_seconds, planned=planned, elapsed=elapsed)
            elif not running:
                said += f" · {words.time_words(run.planned_seconds, run.elapsed_seconds)}"
        return {"said": said, "controls": self._controls(plan), "problem": problem}, {"left": left}

    def _controls(self, plan: Plan | None) -> list[list[str]]:
        if self.run.state == "running":
            return [["pause", "Pause buying"], ["halt", "Stop buying"]]
        doubtful = [job for job in self._doubtful(None) if not self._doing(job)]
        settled = sum(job in self._settled_if_alone for job in doubtful)
        found = words.find_out_controls(len(doubtful), settled)
        if plan is None or not plan.clips:
            return found
        if self.run.id is not None:
            return [["resume", words.buy_words(plan, verb="Resume,")], *found]
        return [["buy", words.buy_words(plan), words.answer_words(plan, self.confirm_above_usd)]]

    def _planned(self) -> Plan | None:
        """What buying the missing cells would come to; None while it buys them, and once none is missing.

        When the session is closed, what was last said.
        """
        if not self.session.closed:
            run = self.run
            buys = run.state != "running" and any(cell.missing for cell in run.cells)
            with without_waiting():
                self._plan = run.plan() if buys or run.id is None else None
        return self._plan

    def _word(self, number: int) -> str:
        return self.run.cells[number - 1].state.capitalize()

    def _pages(self, draw: Callable[[int], Tile]) -> tuple[Page, ...]:
        """The pages as they stand in the panel, with what is drawn for each cell's number."""
        from reelbook.media.grid import Page

        axes = {axis.name: axis for axis in self.sweep.axes}
        many = [name for name, axis in axes.items() if len(axis.values) > 1]
        down = [name for name in self.rows if name in many]
        across = [name for name in self.columns if name in many and name not in down]
        over = [name for name in many if name not in (*down, *across)]
        rows, columns, pages = (_ways(axes, names) for names in (down, across, over))
        numbers = {cell.cell.place: cell.number for cell in self.run.cells}
        made = []
        for page in pages:
            lines = []
            for row in rows:
                places = [{**page, **row, **column} for column in columns]
                at = [numbers.get(tuple(place.get(name, 0) for name in axes)) for place in places]
                lines.append((_label(axes, row), tuple(draw(each) if each else None for each in at)))
            title = ", ".join(f"{name} {axes[name].labels[index]}" for name, index in page.items())
            made.append(Page(title, tuple(_label(axes, column) for column in columns), tuple(lines)))
        return tuple(made)

    def _title(self) -> str:
        return f"{self.sweep.template} · {self._head_words()[0]['said']}"

    @traitlets.validate("rows", "columns")
    def _known_axes(self, proposal: Any) -> Any:
        names = [axis.name for axis in self.sweep.axes]
        for each in proposal["value"]:
            if each not in names:
                raise InvalidInput(f"The sweep has no axis {each!r}. It has: {', '.join(names)}.")
        return list(dict.fromkeys(proposal["value"]))

    def _job_of(self, key: object) -> Job | None:
        number = int(str(key)) if str(key).isdecimal() else 0
        return self.run.cells[number - 1].job if 0 < number <= len(self.run.cells) else None

    def _doubtful(self, key: Any) -> Sequence[Job]:
        """The cell's job; all uncertain ones if the button at the top was pressed."""
        if key is not None:
            return super()._doubtful(key)
        return [cell.job for cell in self.run.cells if cell.job and cell.state == UNCERTAIN]

    def _news_of(self, job: Job) -> None:
        for cell in self.run.cells:
            if cell.job is job:
                self._told(cell)

    def _on_hello(self) -> None:
        with self._sending:
            super()._on_hello()
            self._live.add_news(None)
            self._greeting = {
                "name": "sweep",
                "axes": [[axis.name, list(axis.labels)] for axis in self.sweep.axes],
                "places": words.places(self.sweep),
                "keys": words.KEYS,
                "most_compared": MOST_COMPARED,
            }

    def _on_set(self, values: dict[str, Any]) -> None:
        with self.hold_sync():
            for name in PAGE_SETS:
                if name in values:
                    self.set_trait(name, values[name])

    def _on_buy(self, answer: Any) -> None:
        plan = self._planned()
        if plan is not None and plan.problems:
            self._on_balance()
        elif plan is not None and words.answer_words(plan, self.confirm_above_usd) in ("", answer):
            self.run.start(confirm=bool(answer), confirm_above_usd=self.confirm_above_usd)

    def _on_pause(self) -> None:
        self.run.pause()

    def _on_resume(self) -> None:
        self.run.resume()

    def _on_halt(self) -> None:
        self.run.stop()

    def _on_leave_out(self, key: int) -> None:
        self.run.leave_out([key])

    def _on_take_in(self, key: int) -> None:
        self.run.take_in([key])

    def _on_again(self, key: int) -> None:
        if not self._pressed_twice(key):
            self.run.send_again(key)

    def _on_code(self, key: Any, kind: Any) -> dict[str, Any]:
        if key is None:
            return {"text": self.sweep.as_code(kind)}
        return {"text": request_code(self.run.cells[key - 1].request, kind)}

    def _on_judge(self) -> None:
        self.on_judge.tell(Study(self.chosen if len(self.chosen) > 1 else self.run))

    def _on_save(self, kind: str) -> None:
        def save() -> str:
            self.saved = self.save(free_file(Path(f"grid.{kind}")))
            return f"The grid is in {self.saved.absolute()}."

        self.saved = None
        self._start_work("Saving the grid", save, name="save")


def _ways(axes: dict[str, Axis], names: list[str]) -> list[dict[str, int]]:
    """Every choice of a value for each of those axes, the last axis changing first."""
    ranges = [range(len(axes[name].values)) for name in names]
    return [dict(zip(names, way, strict=True)) for way in itertools.product(*ranges)]


def _label(axes: dict[str, Axis], way: dict[str, int]) -> str:
    return " · ".join(axes[name].labels[index] for name, index in way.items())


def _shape(cells: Iterable[RunCell]) -> float:
    """The width of a cell over its height; if the clips differ, one that suits all."""
    shapes = (shape_of(each.request) for each in cells)
    ratios = {width / height for width, height in shapes}
    return ratios.pop() if len(ratios) == 1 else max(1.0, min(4 / 3, *ratios))
