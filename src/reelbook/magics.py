"""`%%video`: a cell whose text is the prompt. `%load_ext reelbook` adds it."""

from __future__ import annotations

import functools
import re
import shlex
from typing import TYPE_CHECKING, Any, Final

from IPython.core import magic_arguments
from IPython.core.error import UsageError

from .errors import InvalidInput
from .requests import FIELDS, JobRequest
from .secret import quotable, without_keys
from .session import Job, Session, connect

if TYPE_CHECKING:
    from .explore import SweepRun

_SEED: Final = r"[+-]?\d+"
_HELP: Final = {
    "seed": "The same seed makes the same clip. Several make a sweep: 1-4, or 1,5,9.",
    "image": "A still to move: a variable's name, or a path.",
}


def load(shell: Any) -> None:
    magic: Any = functools.partial(video, shell)
    magic.__doc__ = _parser().format_help()
    shell.register_magic_function(magic, "cell", "video")


def video(shell: Any, line: str, cell: str) -> Job | SweepRun:
    """Submits a clip whose prompt is the text of the cell; the job's card is the cell's result.

    With several seeds, as in --seed 1-4, or with --axis it is a sweep, and the text is its template.

    The session is the variable `session` where there is one, else `reelbook.connect()`. Costs 0.05 USD a
    second; the same cell run again gives the same job back. Raises InvalidInput before anything is sent.
    """
    given = _given(line)
    session, prompt = _session(shell, given.session), cell.strip()
    values = {name: getattr(given, name) for name in FIELDS if name != "prompt"}
    asked: dict[str, Any] = {name: value for name, value in values.items() if value is not None}
    if "image" in asked:
        asked["image"] = shell.user_ns.get(given.image, given.image)
    made: Job | SweepRun
    if given.axis or not re.fullmatch(_SEED, "0" if given.seed is None else given.seed):
        made = _sweep(session, given, prompt, asked)
    else:
        if "seed" in asked:
            asked["seed"] = int(given.seed)
        make: Any = JobRequest.from_image if "image" in asked else JobRequest.from_text
        made = session.submit(make(prompt=prompt, **asked), again=given.again)
    if given.output is not None:
        shell.user_ns[given.output] = made
    return made


def _sweep(session: Session, given: Any, template: str, asked: dict[str, Any]) -> SweepRun:
    from .explore import Sweep
    from .explore.axes import axis_options

    axes = {**asked, **axis_options(given.axis or ())}
    try:
        return Sweep(template, **axes).run(session, confirm=given.yes, again=given.again)
    except InvalidInput as error:  # it names the arguments of `Sweep`
        said = re.sub(r"Give (\w+)=\[…\]", r"Give --axis \1=…", str(error))
        error.args = (said.replace("Pass confirm=True", "Add --yes"),)
        raise


def _given(line: str) -> Any:
    """The options in the magic's first line. Raises UsageError, which IPython shows in one line."""
    try:
        return _parser().parse_args(shlex.split(line))
    except (UsageError, ValueError) as mistake:
        raise UsageError(
            f"{without_keys(str(mistake))}. The prompt goes into the lines below. %%video? shows the options."
        ) from None


def _session(shell: Any, name: str | None) -> Session:
    there = shell.user_ns.get(name or "session")
    if isinstance(there, Session):
        return there
    if name is not None:
        raise InvalidInput(f"There is no session in the variable {quotable(name)}. rb.connect() makes one.")
    return connect()


@functools.cache
def _parser() -> Any:
    parser: Any = magic_arguments.MagicArgumentParser("%%video", description=video.__doc__)  # type: ignore[no-untyped-call]  # it has no types
    add = parser.add_argument
    for about in (each for name, each in FIELDS.items() if name != "prompt"):
        kind, words = int if about.control == "slider" else str, _HELP.get(about.name, about.option_help)
        add(f"--{about.option}", f"-{about.option[0]}", dest=about.name, type=kind, help=words)
    add("-a", "--axis", action="append", help="NAME=VALUES for a slot {NAME} of a sweep. May be repeated.")
    add("--yes", action="store_true", help="Buy a sweep for more than $1.00.")
    add("-o", "--output", help="The variable that the job is put into.")
    add("--session", help="The variable that holds the session. Default: session.")
    add("--again", action="store_true", help="Buy another clip when the cell is run again.")
    return parser
