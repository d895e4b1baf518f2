"""`reelbook sweep`: what it plans, asks, buys and resumes; and that every way in sends the same requests."""

import itertools
import json
import re
import signal
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import Run
from cli.doubles import WAIT_SECONDS, TinyClips, start
from PIL import Image
from support.waiting import until

import reelbook as rb
from reelbook.sandbox.handle import Sandbox

ANIMALS, PLACES = ["red fox", "heron"], ["snow", "fog, at night"]
TEMPLATE = "a {animal} in {place}"
PLAN = """
template = "a {animal} in {place}"
duration_seconds = 1
aspect_ratio = "1:1"
[axes]
animal = ["red fox", "heron"]
place = ["snow", "fog, at night"]
seed = "1-2"
"""
FOXES = ("a {animal} runs", "--axis", "animal=fox,heron", "--seed", "1-2", "--duration", "1")


def test_code_magic_and_terminal_send_the_same_requests(
    run: Run, shell: Any, sandbox: Sandbox, folder: Path, clips: TinyClips, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sweep of 2 × 2 × 2 cells, each time from a home that has none of its clips."""
    (folder / "plan.toml").write_text(PLAN, "utf-8-sig")
    monkeypatch.setenv("REELBOOK_API_KEY", sandbox.api_key.reveal())
    monkeypatch.setenv("REELBOOK_BASE_URL", sandbox.url)
    options = ["--axis", "animal=red fox,heron", "--axis", 'place=snow,"fog, at night"']

    def from_code(home: Path) -> None:
        with rb.connect(home=home) as session:
            sweep = rb.Sweep(
                TEMPLATE, animal=ANIMALS, place=PLACES, seed=[1, 2], duration_seconds=1, aspect_ratio="1:1"
            )
            sweep.run(session).results(WAIT_SECONDS)

    def from_magic(home: Path) -> None:
        shell.run_line_magic("load_ext", "reelbook")
        with rb.connect(home=home) as shell.user_ns["session"]:
            quoted = " ".join(f"'{each}'" if "=" in each else each for each in options)
            line = f"--seed 1-2 --duration 1 --ratio 1:1 {quoted}"
            shell.run_cell_magic("video", line, TEMPLATE).results(WAIT_SECONDS)

    def from_terminal(home: Path) -> None:
        words = ["--seed", "1-2", "--duration", "1", "--ratio", "1:1", "--home", str(home)]
        assert run("sweep", TEMPLATE, *options, *words).exit_code == 0

    def from_file(home: Path) -> None:
        assert run("sweep", "plan.toml", "--home", str(home)).exit_code == 0

    cells = itertools.product(ANIMALS, PLACES, (1, 2))
    wanted = sorted((f"a {animal} in {place}", seed, 1, "1:1") for animal, place, seed in cells)
    for number, way in enumerate((from_code, from_magic, from_terminal, from_file)):
        clips.specs.clear()
        way(folder / f"home {number}")
        arrived = [(each.prompt, each.seed, each.seconds, each.aspect_ratio) for each in clips.specs]
        assert sorted(arrived) == wanted


def test_the_plan_comes_first_and_then_the_clips(run: Run, sandbox: Sandbox, folder: Path) -> None:
    """Files on standard output, all else beside it; a second run finds the clips and pays nothing."""
    result = run("sweep", *FOXES)
    assert result.exit_code == 0, result.output
    assert result.stderr.startswith("4 clips, about $0.20, here in ")
    assert "leaves $24.80 of the balance." in result.stderr
    lines = [line.split("\t") for line in result.stdout.splitlines()]
    assert [line[0] for line in lines] == ["1", "2", "3", "4"]
    assert all(Path(line[2]).exists() for line in lines)
    assert {line[1] for line in lines} == {"fox, 1", "fox, 2", "heron, 1", "heron, 2"}
    assert re.search(r"4 completed, \$0\.20, planned .*, took \d+ s\.\n$", result.stderr)
    again = run("sweep", *FOXES)
    assert again.stderr.startswith("4 clips, 4 of them in the ledger already, nothing to pay.")
    assert again.stdout == result.stdout


def test_it_asks_above_a_dollar_and_a_dry_run_buys_nothing(run: Run, sandbox: Sandbox, folder: Path) -> None:
    """Nobody is here to be asked, so --yes has to be said."""
    words = [*FOXES[:-1], "10"]
    result = run("sweep", *words)
    assert (result.exit_code, "--yes goes ahead" in result.stderr) == (2, True)
    dry = run("sweep", *words, "--dry-run")
    assert (dry.exit_code, dry.stdout.startswith("4 clips, about $2.00")) == (0, True)
    assert "No sweep was run" in run("sweep", "list").stdout
    assert "text-to-video" not in sandbox.state()["requests"]
    assert run("sweep", *words, "--yes").exit_code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a {animal}"], "Nothing fills {animal}"),
        (["a {animal}", "--axis", "animal"], "--axis is written NAME=VALUES"),
        (["a {fox|heron"], "At character 3"),
        (["a fox", "--seed", "x"], "seed"),
        (["missing.toml"], "missing.toml can't be read"),
        (["broken.toml"], "broken.toml isn't valid TOML"),
        (["latin.toml"], "latin.toml isn't valid TOML"),
        (["empty.toml"], "empty.toml has no template"),
        (["strange.toml"], "called sede. Did you mean seed?"),
        (["words.toml"], "wildcards takes names with their values, not 5"),
        (["picture.toml"], "An int isn't an image"),
        (["prompt.toml"], "No axis can be called template"),
        (
            ["a {animal}", "--axis", "animal=fox", "--axis", "template=a hen"],
            "No axis can be called template",
        ),
        (["a fox", "--image", "broken.toml"], "a picture that can be read"),
        *(
            (["resume", word, "--service", "sandbox"], f"no sweep {word}. reelbook sweep list")
            for word in ("99", "fox", "9" * 30)
        ),
    ],
)
def test_a_mistake_is_said_before_anything_is_bought(
    run: Run, sandbox: Sandbox, folder: Path, words: list[str], said: str
) -> None:
    """In one line, with what is wrong; nothing is written or sent."""
    (folder / "broken.toml").write_text("template = a fox")
    (folder / "latin.toml").write_text("template = 'a café'", "latin-1")
    (folder / "empty.toml").write_text("seed = 1")
    for name, line in (
        ("strange", "sede = [1]"),
        ("words", "wildcards = 5"),
        ("picture", "image = 5"),
        ("prompt", 'axes = {template = "a hen"}'),
    ):
        (folder / f"{name}.toml").write_text(f'template = "a fox"\n{line}')
    result = run("sweep", *words)
    assert (result.exit_code, said in result.stderr) == (2, True), result.stderr
    assert sandbox.state()["requests"] == {}


def test_a_balance_that_is_too_low_is_said_in_the_plan(run: Run, sandbox: Sandbox, folder: Path) -> None:
    """And nothing is bought."""
    sandbox.settings(balance_usd=0.10)
    result = run("sweep", *FOXES)
    assert (result.exit_code, "balance of $0.10 doesn't cover 4 clips" in result.stderr) == (2, True)
    assert "text-to-video" not in sandbox.state()["requests"]


def test_what_is_missing_is_resumed_and_listed(run: Run, sandbox: Sandbox, folder: Path) -> None:
    """A clip that failed stays as it is; one that was refused is bought."""
    sandbox.settings(fail_next="content policy")
    sandbox.fault("500", endpoint="generate", after=3)
    result = run("sweep", *FOXES, "--name", "foxes")
    assert result.exit_code == 1
    assert "“content policy”" in result.stderr
    [listed] = json.loads(run("sweep", "list", "--json").stdout)["sweeps"]
    assert (listed["name"], sum(listed["counts"].values()), listed["counts"]["completed"]) == ("foxes", 4, 2)
    before = sandbox.state()["requests"]["text-to-video"]
    resumed = run("sweep", "resume", listed["id"])
    assert (resumed.exit_code, len(resumed.stdout.splitlines())) == (1, 2)
    assert sandbox.state()["requests"]["text-to-video"] == before
    assert re.search(r"^ +1  \S+ \S+  completed  +\$\S+  foxes  \(", run("sweep", "list").stdout)


def test_images_lie_beside_the_plan(run: Run, sandbox: Sandbox, folder: Path, clips: TinyClips) -> None:
    """As do its wildcards, wherever the command is run from."""
    place = folder / "plans"
    (place / "words").mkdir(parents=True)
    (place / "words" / "mood.txt").write_text("calm\nwild\n")
    Image.new("RGB", (64, 36), "orange").save(place / "still.png")
    (place / "plan.toml").write_text(
        'template = "__mood__ waves"\nwildcards = "words"\nimage = "still.png"\nduration_seconds = 1'
    )
    result = run("sweep", "plans/plan.toml")
    assert result.exit_code == 0, result.output
    assert sorted((each.prompt, each.image is not None) for each in clips.specs) == [
        ("calm waves", True),
        ("wild waves", True),
    ]


def test_what_a_killed_sweep_left_is_said_with_a_command(run: Run, sandbox: Sandbox, folder: Path) -> None:
    """The next command says it without any code, and the commands that it names drop or send the rest."""
    sandbox.fault("429", endpoint="generate", after=2, times=100, reset_seconds=30)
    process = start("sweep", *FOXES, cwd=folder)
    until(lambda: sandbox.state()["requests"].get("text-to-video", 0) >= 3)
    process.kill()
    process.communicate()
    said = run("balance").stderr
    assert re.search(
        r"A program ended with \d of 4 .*: reelbook sweep resume 1 sends .* reelbook sweep stop 1 drops it\.",
        said,
    )
    assert "rb." not in said
    assert run("sweep", "stop", "1").stdout == "Stopped: nothing more is bought.\n"
    assert "unsent" not in run("balance").stderr
    sandbox.clear_faults()
    assert "stopped" in run("sweep", "list").stdout
    run("sweep", "resume", "1")
    assert "completed" in run("sweep", "list").stdout


def test_ctrl_c_buys_nothing_more_and_says_how_to_go_on(run: Run, sandbox: Sandbox, folder: Path) -> None:
    """What was sent goes on; the command that it names buys exactly the rest."""
    sandbox.fault("429", endpoint="generate", after=2, times=100, reset_seconds=30)
    process = start("sweep", *FOXES, cwd=folder)
    until(lambda: sandbox.state()["requests"].get("text-to-video", 0) >= 3)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=WAIT_SECONDS)
    assert process.returncode == 130, stderr
    assert (
        "Nothing more is bought; what was sent goes on and is paid. To go on:\n  reelbook sweep resume 1"
        in stderr
    )
    sandbox.clear_faults()
    result = run("sweep", "resume", "1")
    assert result.exit_code == 0, result.output
    assert len(result.stdout.splitlines()) == 4
    with rb.connect("sandbox") as session:
        assert session.spending().of_key.spent_usd == pytest.approx(0.20)
