"""The form that asks for a clip. The session checks and sends; double presses are caught here."""

import contextlib
import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from io import BytesIO
from time import monotonic
from typing import Any

import traitlets

from reelbook.account.limits import without_spend_warnings
from reelbook.errors import InvalidImage, InvalidInput, NoPassport
from reelbook.explore.wildcards import Styles
from reelbook.requests import LONGEST_TEXT, MODES, JobRequest, RequestField, options
from reelbook.session import Job, Session
from reelbook.session.passports import Passport, passports
from reelbook.session.request_code import request_code
from reelbook.session.session import without_waiting

from ..text import form as words
from .base import AsksForBalance, Callbacks, name_of, session_of
from .bundle import packed
from .image_picker import TakesImage
from .job_actions import TWICE_SECONDS
from .uploads import Uploads

EARLIER = 20  # prompts that are offered at a time
OFFERED = 24  # clips of a zip
EXACT = 2**53 - 1  # the largest whole number that JavaScript represents exactly
# Controls, and marks that reverse the text around them: a prompt that comes with a file is shown without.
_UNSEEN = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class OffersPrompts(AsksForBalance):
    """Earlier prompts and kept styles beside a field for a prompt; looked up when they are asked for."""

    @cached_property
    def styles(self) -> Styles:
        return Styles(self.session.home)

    def _on_history(self, text: str) -> dict[str, Any]:
        found: Sequence[str] = self.session.prompts(text, limit=EARLIER)
        note = words.history_note(len(found), searched=bool(text.strip()), most=EARLIER)
        return {"items": list(found), "note": note}

    def _on_styles(self) -> dict[str, Any]:
        found = list(self.styles)
        return {"items": found, "note": words.styles_note(len(found), self.styles.path)}

    def _on_keep_style(self, text: str) -> dict[str, Any]:
        self.styles.add(text)
        return self._on_styles()

    def _on_remove_style(self, text: str) -> dict[str, Any]:
        self.styles.remove(text)
        return self._on_styles()


def _trait(about: RequestField) -> Any:
    """The trait for an option of a request, shared by the form and its page; an empty text means none."""
    if about.control == "slider":
        trait: Any = traitlets.Int(about.default, min=about.low, max=about.high)
    elif about.control == "choices":
        trait = traitlets.Enum(about.choices, about.default)
    elif about.control == "seed":
        trait = traitlets.Int(about.default)
    else:
        trait = traitlets.Unicode(about.default or "")
    return trait.tag(sync=True)


_Options: Any = traitlets.MetaHasTraits(
    "_Options",
    (traitlets.HasTraits,),
    {"__module__": __name__, **{name: _trait(about) for name, about in options().items()}},
)


class PromptForm(OffersPrompts, TakesImage, _Options):  # type: ignore[misc] # as in Panel
    """Asks for a clip, from text or from an image, and shows the cost before anything is sent.

    `PromptForm(session)`; without a session `reelbook.connect()`. Observe, link or set `mode`
    ("text-to-video", "image-to-video"), `prompt`, `duration_seconds` (1 to 10), `aspect_ratio` (16:9, 9:16,
    1:1), `seed` (-1: random), and `image` and `crop` as in ImagePicker. `generate()` does what the button
    does. `job` is the last job sent, and every job goes to `on_job(callback)`; a template that is typed as
    prompt goes to `on_plan(callback)`, if there is one. A saved clip that is dropped on the form, its JSON or
    a zip, fills it with what made the clip.

        form = rb.PromptForm(session, prompt="a red fox in snow")
        form.on_job(lambda job: job.mark(tags=["workshop"]))
    """

    _esm = packed("prompt_form")

    mode = traitlets.Enum(MODES, MODES[0]).tag(sync=True)
    prompt = traitlets.Unicode().tag(sync=True)
    fields = traitlets.List(words.form_fields(), help="What a request has, and its limits.").tag(sync=True)
    job = traitlets.Instance(Job, allow_none=True, help="The last job sent.")
    plan = traitlets.Unicode(help="The button that plans a template as a sweep; empty: none.").tag(sync=True)
    words = traitlets.Dict(help="Costs, and why the button is off.").tag(sync=True)
    problems = traitlets.Dict(help="What is wrong, by field.").tag(sync=True)

    on_job = Callbacks[[Job]]("`callback(job)` is called for every job that the form sends.")
    on_plan = Callbacks[["PromptForm"]]("`callback(form)` is called when its template is to be planned.")
    on_replace_key = Callbacks[[]]("`callback()` is called when Replace key is pressed.")

    def __init__(self, session: Session | None = None, **traits: Any) -> None:
        self.session = session = session_of(self, session)
        self._guard = threading.Lock()
        self._sent_at = float("-inf")
        self._last: Job | None = None
        self._presses: set[str] = set()  # by the ids that the page gave them
        self._files = Uploads()
        self._told: dict[str, Passport] = {}  # what the last file said, by its clips
        super().__init__(**traits)
        self._endings += (session.subscribe(self._live.changed),)
        self.refresh()
        if not session.closed:
            session._refresh_balance()

    def fill(self, request: JobRequest) -> None:
        """Fills the form with what a job asked for, so that it can be varied. Nothing is sent."""
        with self.hold_sync():
            self.mode = request.mode
            self.prompt = request.prompt
            for name in options(request.mode):
                value = getattr(request, name)
                self.set_trait(name, "" if value is None else value)
            if request.mode == "image-to-video":
                self.image = request.image

    @property
    def axes(self) -> dict[str, str]:
        """What is in the form besides the prompt, as the axes of a sweep are typed."""
        given = [(name, about, getattr(self, name)) for name, about in options().items()]
        return {name: "" if about.is_random(value) else str(value) for name, about, value in given}

    def generate(self) -> Job:
        """Sends what is in the form and returns its Job, as the button does.

        A second call within 1.5 seconds counts as a double press: it sends nothing and returns the same job.
        Raises InvalidInput before anything is sent.
        """
        with self._guard:
            if self._last is not None and monotonic() - self._sent_at < TWICE_SECONDS:
                return self._last
            with without_spend_warnings(), without_waiting():  # both are said beside the button
                job = self._last = self.session.submit(self._request())
            self._sent_at = monotonic()
        # Outside the lock, because an observer of these may call `generate` again.
        self.problems = {}
        self.say("")
        self.job = job
        if not self.on_job:
            form, board = name_of(self), f"rb.JobBoard({name_of(self.session) or ''})"
            self.say(
                f"Sent. {form}.job is job {job.number}; show it to watch it."
                if form
                else f"Sent as job {job.number}. To watch it, run {board} in a cell."
            )
        self.on_job.tell(job)
        return job

    def update(self) -> None:
        spend = None if self.session.closed else self.session.spending().of_key
        self.words = words.form_words(self.session.facts, spend)
        self.plan = self._plan()
        self.live = bool(self.session.running)

    def _plan(self) -> str:
        if not self.on_plan or self.mode != "text-to-video":
            return ""
        return words.plan_words(self.prompt, self.duration_seconds, self.styles)

    def _request(self) -> JobRequest:
        typed: dict[str, Any] = {name: getattr(self, name) for name in options(self.mode)}
        chosen: Any = {name: value for name, value in typed.items() if value != ""}
        if self.mode == "text-to-video":
            return JobRequest.from_text(self.prompt, **chosen)
        if self.image is None:
            raise InvalidImage("Choose an image first.")
        return JobRequest.from_image(self.image, self.prompt, **chosen)

    @traitlets.observe("mode", "prompt", "image", *options())
    def _edited(self, change: Any) -> None:
        if self.message["tone"] == "info":  # it is about the form as it was sent
            self.say("")
        if change["name"] in self.problems:
            self.problems = {name: text for name, text in self.problems.items() if name != change["name"]}
        self.plan = self._plan()

    def _on_plan(self, prompt: str) -> None:
        self.prompt = prompt
        self.on_plan.tell(self)

    def _on_generate(self, ask: str, values: dict[str, Any]) -> None:
        if ask in self._presses:
            return
        self._presses.add(ask)
        with self._problems_at_fields():
            self._take(values)
            self.generate()

    def _on_passport(self, file: Any, content: dict[str, Any], buffers: Sequence[Any]) -> dict[str, Any]:
        data = self._files.take(content, buffers)
        if data is None:
            return {"more": True}
        name = str(file)[-80:]
        self._told, _ = passports(BytesIO(data), name)
        if not self._told:
            said = f"{name} doesn't say what made it, so the form is unchanged."
            raise NoPassport(f"{said} Clips that Reelbook saved do.")
        if (clips := len(self._told)) > 1:
            first = f", the first {OFFERED} of which are here" if clips > OFFERED else ""
            offer = f"{name} describes {clips} clips{first}. Which one?"
            return {"clips": list(self._told)[:OFFERED], "words": offer}
        self._on_passport_of(*self._told)
        return {}

    def _on_passport_of(self, clip: Any) -> None:
        if (told := self._told.get(clip)) is None:
            return
        request = told.request
        too_much = ""
        if len(request.prompt) > LONGEST_TEXT:
            too_much = f"The prompt has more than {LONGEST_TEXT:,} characters"
        if abs(request.seed or 0) > EXACT:
            too_much = f"The seed {request.seed} is too large for the page"
        if too_much:
            raise InvalidInput(f"{too_much}, so the form is unchanged.")
        self.fill(replace(request, prompt=_UNSEEN.sub("", request.prompt)))
        again = " Choose its image again: the file doesn't contain it."
        self.say(f"Filled from {clip}.{again if request.mode == 'image-to-video' else ''}")

    def _on_replace_key(self) -> None:
        if not self.on_replace_key:
            self.say(
                "Run rb.ConnectionPanel() in a cell and type in another key there, or connect with one: "
                'rb.connect("live", api_key=…).'
            )
        self.on_replace_key.tell()

    def _on_code(self, kind: Any, values: dict[str, Any]) -> dict[str, Any]:
        with self._problems_at_fields():
            self._take(values)
            return {"text": request_code(self._request(), kind)}
        return {}

    def _take(self, values: dict[str, Any]) -> None:
        for name in ("mode", "prompt", *options()):
            if name in values:
                self.set_trait(name, values[name])

    @contextlib.contextmanager
    def _problems_at_fields(self) -> Iterator[None]:
        try:
            yield
        except InvalidInput as error:
            self.problems = {error.field or "prompt": str(error)}
