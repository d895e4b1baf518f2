"""The form's part in the kernel."""

import json
import sys
import threading
import zipfile
from pathlib import Path
from typing import Any, get_args

import pytest
from media.test_clips import make as make_clip
from PIL import Image
from support.waiting import until
from widgets.doubles import FakeSession, asks, says

import reelbook as rb
from reelbook.account import Facts
from reelbook.errors import InvalidImage, InvalidPrompt
from reelbook.requests import JobRequest
from reelbook.sandbox.handle import Sandbox
from reelbook.session import Clip, Passport
from reelbook.session.request_code import CodeKind, request_code
from reelbook.widgets.prompt_form import EARLIER, PromptForm


def make(session: Any = None, **traits: Any) -> PromptForm:
    owner: Any = session or FakeSession()
    return PromptForm(owner, **{"prompt": "a fox", **traits})


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The guard's own clock, which stands still."""
    now = [50.0]
    monkeypatch.setattr("reelbook.widgets.prompt_form.monotonic", lambda: now[0])
    return now


def test_the_button_sends_what_the_page_holds() -> None:
    """The message carries the values, each endpoint gets only what it takes, and callbacks get the job."""
    session = FakeSession()
    form = make(session)
    options = {"duration_seconds": 3, "aspect_ratio": "1:1", "seed": 9}
    assert asks(form, "generate", values={"mode": "text-to-video", "prompt": "a cat", **options}) == {}
    assert session.submitted == [JobRequest("text-to-video", "a cat", 3, "1:1", 9)]
    form.mode, told = "image-to-video", list[object]()
    form.set_trait("image", Image.new("RGB", (8, 8)))
    form.on_job(told.append)
    form._sent_at = float("-inf")
    assert (told, form.message["text"]) == ([form.generate()], "")
    assert session.submitted[1] == JobRequest("image-to-video", "a cat", 3, image=form.image)


def test_a_second_press_within_a_moment_sends_nothing(clock: list[float]) -> None:
    """A double press gives the same job, from several threads at once too; a later one is another clip."""
    session = FakeSession()
    form = make(session)
    threads = [threading.Thread(target=form.generate) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    [first] = {form.job, form.generate()}
    assert first is not None
    clock[0] += 1.4
    assert form.generate() is first
    clock[0] += 0.2
    assert form.generate() is not first
    assert len(session.submitted) == 2


def test_who_observes_the_job_may_press_again(clock: list[float]) -> None:
    """Nobody is called while the guard is held, or the kernel would stand still."""
    session = FakeSession()
    form = make(session)
    seen: list[Any] = []
    form.observe(lambda change: seen.append((change["new"], form.generate())), "job")
    pressing = threading.Thread(target=form.generate, daemon=True)
    pressing.start()
    pressing.join(60)
    assert not pressing.is_alive()
    assert seen == [(form.job, form.job)]
    assert len(session.submitted) == 1


def test_a_message_that_comes_twice_sends_once(clock: list[float]) -> None:
    """A press has an id; however late its copy arrives, it buys nothing."""
    session = FakeSession()
    form = make(session)
    for _ in range(2):
        asks(form, "generate", values={})
        clock[0] += 60
    assert len(session.submitted) == 1


def test_what_is_wrong_is_said_at_its_field_and_raised_in_python(session: rb.Session) -> None:
    """And goes when the field is edited; what no field can mend stands under the form."""
    form = PromptForm(session)
    asks(form, "generate", values={"prompt": "  "})
    assert list(form.problems) == ["prompt"]
    with pytest.raises(InvalidPrompt):
        form.generate()
    assert session.jobs() == ()
    form.prompt = "a fox"
    assert form.problems == {}
    form.mode = "image-to-video"
    with pytest.raises(InvalidImage, match="Choose an image first"):
        form.generate()
    form.mode = "text-to-video"
    session.close()
    assert asks(form, "generate", ask="another press", values={}) == {}
    assert "This session is closed." in form.message["text"]


def test_a_form_that_stands_alone_says_what_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """To watch its job, in names that the notebook has, and to replace a key that is refused."""
    cells, form = sys.modules["__main__"], make()
    form.generate()
    assert form.message["text"] == "Sent as job 1. To watch it, run rb.JobBoard() in a cell."
    form.prompt = "another"
    assert form.message["text"] == ""
    for name, value, said in (
        ("_3", form, "rb.JobBoard()"),
        ("mine", form.session, "rb.JobBoard(mine)"),
        ("asked", form, "asked.job"),
    ):
        monkeypatch.setattr(cells, name, value, raising=False)
        form._sent_at = float("-inf")
        form.generate()
        assert said in form.message["text"]
    session: Any = form.session
    session.facts = Facts(None, 10, 10, None, key_trouble="The service doesn't accept this API key.")
    form.refresh()
    assert form.message["text"] == session.facts.key_trouble
    says(form, "replace_key")
    assert form.message["text"].startswith("Run rb.ConnectionPanel() in a cell")


def test_the_balance_is_asked_for_once(sandbox: Sandbox) -> None:
    """Each question costs a request of the key: the second form knows what the first one heard."""
    with rb.connect("sandbox") as earlier:
        earlier.balance()
    with rb.connect("sandbox") as session:
        sandbox.settings(balance_usd=7)
        asked = sandbox.state()["requests"]
        first = rb.PromptForm(session)
        session._refresh_balance().result(30)  # behind the form's own question
        assert session.facts.balance_usd == 7
        second = rb.PromptForm(session)
        session._refresh_balance().result(30)
        assert sum(sandbox.state()["requests"].values()) - sum(asked.values()) == 1
        first.close()
        second.close()


def test_the_form_says_what_the_limit_leaves_and_its_button_warns_nobody(sandbox: Sandbox) -> None:
    """What was sent from here counts at once; the warning stands in the form and isn't raised behind it."""
    sandbox.settings(pace=3600)
    with rb.connect("sandbox", max_spend=0.5) as session:
        form = PromptForm(session, prompt="a fox", duration_seconds=9)
        assert form.words["lengths"][8]["low"].startswith("This leaves $0.05 of your limit of $0.50")
        form.generate()
        form.refresh()
        assert [each["off"] == "" for each in form.words["lengths"][:2]] == [True, False]
        sandbox.settings(balance_usd=0.01)
        session.balance()
        form.refresh()
        assert form.words["lengths"][0]["off"].startswith("The balance is $0.01")
        sandbox.settings(balance_usd=7)
        says(form, "balance")  # the button is pressed all the same
        until(lambda: form.message["text"].startswith("The balance is $"))
        until(lambda: form.words["lengths"][0]["off"] == "")
        form.close()


def test_a_template_is_planned_where_somebody_listens() -> None:
    """The button counts and prices it; Generate still sends the text as it is written."""
    session = FakeSession()
    form = make(session, prompt="a {red|grey} fox", duration_seconds=2)
    assert form.plan == ""
    planned: list[str] = []
    form.on_plan(lambda form: planned.append(form.prompt))
    assert form.plan == "Plan 2 clips · $0.20"
    form.duration_seconds = 3
    assert form.plan == "Plan 2 clips · $0.30"
    says(form, "plan", prompt="a {red|grey|blue} fox")
    assert planned == ["a {red|grey|blue} fox"]
    assert session.submitted == []
    form.generate()
    assert [request.prompt for request in session.submitted] == ["a {red|grey|blue} fox"]
    form.prompt = "a fox"
    assert form.plan == ""


def test_what_is_in_the_form_is_given_as_code() -> None:
    """Of each kind, with nothing sent; what is wrong is said at its field instead."""
    session = FakeSession()
    form = make(session)
    values = {"mode": "text-to-video", "prompt": "a cat", "seed": 9}
    for kind in get_args(CodeKind):
        expected = request_code(JobRequest.from_text("a cat", seed=9), kind)
        assert asks(form, "code", kind=kind, values=values) == {"text": expected}
    assert asks(form, "code", kind="cell", values={"prompt": " "}) == {}
    assert (list(form.problems), session.submitted) == (["prompt"], [])


@pytest.fixture
def remembering(tmp_path: Path) -> Any:
    prompts = ["a fox in fog", "a fox at dawn", "a heron"]
    return FakeSession(submitted=[JobRequest.from_text(each) for each in prompts], home=tmp_path)


def test_earlier_prompts_are_sent_as_they_are_asked_for(remembering: Any) -> None:
    """In answer to that question alone; the state, which is saved with a notebook, holds none of them."""
    form = PromptForm(remembering)
    found = asks(form, "history", text="fox")
    assert found == {"items": ["a fox in fog", "a fox at dawn"], "note": ""}
    nothing = {"items": [], "note": "No earlier prompt contains these words."}
    assert asks(form, "history", text="xylophone") == nothing
    assert len(asks(form, "history", text="")["items"]) == 3
    remembering.submitted += [JobRequest.from_text(f"a fox {n}") for n in range(2 * EARLIER)]
    assert len(asks(form, "history", text="")["items"]) == EARLIER
    assert "in fog" not in json.dumps(form.get_state(), default=str)


def test_styles_are_kept_and_removed_from_the_page(remembering: Any) -> None:
    """Each answer has all that are left; what can't be kept is said under the panel."""
    form = PromptForm(remembering, prompt="a fox, __styles__")
    form.on_plan(print)
    for text in ("film grain", "at dawn", "in fog"):
        asks(form, "keep_style", text=text)
    left = asks(form, "remove_style", text="at dawn")
    assert left["items"] == ["film grain", "in fog"]
    assert "styles.txt" in left["note"]
    form.refresh()
    assert form.plan == "Plan 2 clips · $0.50"
    assert asks(form, "keep_style", text="#") == {}
    assert "Nothing was kept" in form.message["text"]


@pytest.fixture(scope="module")
def fox(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An exported clip, its JSON and a zip with another clip beside it."""
    folder = tmp_path_factory.mktemp("exported")
    file = make_clip(folder / "req.mp4", frames=12)
    asked = {"fox": JobRequest.from_text("a fox\x00 in \u202esnow", duration_seconds=3, seed=7)}
    asked["owl"] = JobRequest.from_text("an owl", aspect_ratio="9:16", seed=8)
    with zipfile.ZipFile(folder / "both.zip", "w") as archive:
        for name, request in asked.items():
            saved = Clip(file, name, request=request).save(folder / f"{name}.mp4")
            archive.write(saved, saved.name)
    return folder / "fox.mp4"


def dropped(form: PromptForm, file: Path, data: bytes | None = None, piece: int = 500) -> dict[str, Any]:
    """What the form answers to the last piece of the file."""
    data = file.read_bytes() if data is None else data
    total = -(-len(data) // piece)
    about = {"file": file.name, "id": "a", "size": len(data), "total": total}
    for index in range(total):
        part = data[index * piece : (index + 1) * piece]
        answer = asks(form, "passport", part, index=index, **about)
    return answer


@pytest.mark.parametrize("ending", [".mp4", ".json"])
def test_a_dropped_clip_fills_the_form(fox: Path, ending: str) -> None:
    """All that made it but what nobody sees; it says from which file, and sends nothing."""
    session = FakeSession()
    form = make(session, seed=3)
    assert dropped(form, fox.with_suffix(ending)) == {}
    assert (form.prompt, form.duration_seconds, form.seed) == ("a fox in snow", 3, 7)
    assert (form.message["text"], session.submitted) == (f"Filled from fox{ending}.", [])


def test_a_zip_of_several_clips_offers_them(fox: Path) -> None:
    """Nothing is filled in before one is chosen; another name fills nothing."""
    form = make()
    answer = dropped(form, fox.with_name("both.zip"))
    assert answer == {"clips": ["fox.mp4", "owl.mp4"], "words": "both.zip describes 2 clips. Which one?"}
    assert form.prompt == "a fox"
    says(form, "passport_of", clip="hen.mp4")
    says(form, "passport_of", clip="owl.mp4")
    assert (form.prompt, form.aspect_ratio) == ("an owl", "9:16")
    assert form.message["text"] == "Filled from owl.mp4."


def test_a_clip_from_an_image_wants_its_image(tmp_path: Path) -> None:
    """The file doesn't hold it, and the form says so."""
    request = JobRequest.from_image(Image.new("RGB", (8, 8)), "zoom in", duration_seconds=2)
    form = make()
    dropped(form, tmp_path / "zoom.json", json.dumps(Passport(request).record()).encode())
    assert (form.mode, form.prompt, form.duration_seconds) == ("image-to-video", "zoom in", 2)
    assert "Choose its image again" in form.message["text"]


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("plain.json", b"{}", "plain.json doesn't say what made it"),
        ("bad.zip", b"PK\x03\x04 not a zip", "bad.zip isn't a zip that can be read"),
        ("seed.json", b'"seed": 9007199254740993, "prompt": "x', "The seed 9007199254740993 is too large"),
    ],
)
def test_a_file_that_fills_nothing_says_why(name: str, data: bytes, said: str) -> None:
    """No passport, no zip, and a request that a form can't hold; the form stays as it was."""
    if b"prompt" in data:
        data = b'{"reelbook_passport": 1, "request": {"mode": "text-to-video", ' + data + b'"}}'
    form = make()
    dropped(form, Path(name), data, piece=1 << 20)
    assert said in form.message["text"]
    assert (form.message["tone"], form.prompt, form.seed) == ("problem", "a fox", -1)
