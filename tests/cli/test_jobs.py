"""`reelbook jobs`: the list, one job in full, the receipt, and taking up what is unfinished."""

import csv
import json
import re
import signal
from datetime import datetime
from pathlib import Path

from cli.conftest import Run
from cli.doubles import WAIT_SECONDS, Book, TinyClips, listed, read_until, start
from ledger.doubles import KEY, SERVICE, fox
from sandbox.doubles import Client, http_client
from support.ledgers import ledger_in
from support.raw_server import RawServer

import reelbook as rb
from reelbook.explore.study import Pair
from reelbook.sandbox import server
from reelbook.sandbox.handle import Sandbox
from reelbook.secret import Secret

HEADER = "number\twhen\tstate\tseconds\tcost_usd\testimate_usd\tid\tservice\texperiment\tprompt"


def test_without_any_job_it_says_what_to_do_and_makes_nothing(run: Run, home: Path) -> None:
    """An empty list names the command that makes a clip; no home is made by looking."""
    result = run("jobs")
    assert (result.exit_code, result.stdout) == (0, HEADER + "\n")
    assert result.stderr == 'No jobs yet. The first one: reelbook generate "a red fox runs through snow"\n'
    assert json.loads(run("jobs", "--json").stdout) == {"jobs": [], "spend": {}}
    assert run("jobs", "receipt").stdout == "Nothing was bought.\n"
    assert run("jobs", "resume").exit_code == 0
    assert run("jobs", "show", "req_1").exit_code == 2
    assert not home.exists()


def test_a_program_gets_a_line_a_job_and_the_sums_apart(run: Run, book: Book) -> None:
    """Tabs between the fields, whole ids, no line break from a prompt; the sums go to standard error."""
    book.job("req_1", "completed", prompt="a fox\nin\tthe \x1b[31msnow", experiment="fog")
    book.clock.now += 60
    book.job("req_2" * 12, prompt="an owl")
    result = run("jobs")
    when = [
        datetime.fromtimestamp(book.clock.now - ago).astimezone().isoformat("T", "seconds") for ago in (0, 60)
    ]
    assert result.stdout.splitlines() == [
        HEADER,
        f"#2\t{when[0]}\tpending\t5\t\t0.2500\t{'req_2' * 12}\tservice.example\t\tan owl",
        f"#1\t{when[1]}\tcompleted\t5\t0.2500\t0.2500\treq_1\tservice.example\tfog\ta fox in the [31msnow",
    ]
    assert result.stderr.splitlines() == [
        "service.example: $0.25 spent · $0.25 reserved · $0.00 uncertain",
        "2 clips on the way in another running program.",
    ]


def test_every_filter_narrows_the_list(run: Run, book: Book) -> None:
    """Text, state, time, cost, experiment and number, each as it is said.

    Looking settles what the dead left; what a living kernel sends stays being sent.
    """
    long_ago = book.clock.now - 3 * 86400
    book.clock.now, now = long_ago, book.clock.now
    book.job("req_old", "completed", prompt="an old owl")
    book.clock.now = now
    book.job("req_fox", "failed", experiment="fog")
    book.job("req_dear", prompt="a slow whale", duration_seconds=10)
    book.job(None, prompt="being sent")

    def ids(*words: str) -> list[str | None]:
        return [job["id"] for job in listed(run, *words)]

    assert ids() == [None, "req_dear", "req_fox", "req_old"]
    assert ids("--text", "wha slo") == ["req_dear"]
    assert ids("--state", "failed", "--state", "completed") == ["req_fox", "req_old"]
    assert ids("--state", "sending") == [None]
    assert ids("--since", "2d") == [None, "req_dear", "req_fox"]
    assert ids("--until", "2d") == ["req_old"]
    assert ids("--since", datetime.fromtimestamp(long_ago).isoformat(), "--until", "1d") == ["req_old"]
    assert ids("--min-cost", "0.3") == ["req_dear"]
    assert ids("--max-cost", "0.3", "--experiment", "fog") == ["req_fox"]
    assert ids("--limit", "2") == [None, "req_dear"]
    assert "--limit 4 shows more" in run("jobs", "--limit", "2").stderr
    assert "Without the filters there are some." in run("jobs", "--text", "zebra").stderr


def test_show_says_all_that_is_known(run: Run, book: Book, tmp_path: Path) -> None:
    """By number, by id and by the beginning of one: the same job with times, cost and where its clip lies. An
    uncertain job may go on at the service, so no end of it is told.
    """
    number = book.job("req_abc", "completed", experiment="fog", seed=7)
    clip = tmp_path / "fox.mp4"
    clip.write_bytes(b"x" * 2000)
    book.ledger.downloaded(number, clip)
    result = run("jobs", "show", "req_a")
    assert result.exit_code == 0
    assert run("jobs", "show", f"#{number}").stdout == run("jobs", "show", "req_abc").stdout == result.stdout
    assert result.stdout.startswith("a red fox runs through snow\n")
    known = {"id": "req_abc", "state": "completed", "length": "5 s", "seed": "7", "cost": "$0.25"}
    for label, said in (known | {"experiment": "fog", "clip": f"{clip} (2 kB)"}).items():
        assert re.search(rf"^{label} +{re.escape(said)}$", result.stdout, re.MULTILINE), result.stdout
    book.job("req_still", image=b"x")
    assert re.search(r"^still +its SHA-256 begins \w{12}$", run("jobs", "show", "req_s").stdout, re.MULTILINE)
    fields = json.loads(run("jobs", "show", "req_abc", "--json").stdout)
    assert (fields["clip_path"], fields["clip_exists"], fields["clip_bytes"]) == (str(clip), True, 2000)
    clip.unlink()
    gone = run("jobs", "show", "req_abc").stdout
    assert f"{clip}: not there any more" in gone
    assert gone.endswith("To get its clip:\n  reelbook jobs resume req_abc\n")
    book.ledger.ended(doubtful := book.job(), "uncertain")
    uncertain = run("jobs", "show", f"#{doubtful}").stdout
    assert [line[:9] for line in uncertain.splitlines() if line.startswith(("ended", "no"))] == ["no answer"]
    assert re.search(r"^ended +\d", gone, re.MULTILINE)


def test_filters_belong_to_the_list_and_a_home_to_all(
    run: Run, home: Path, book: Book, tmp_path: Path
) -> None:
    """A filter before `show` is refused and not dropped; --home counts on either side."""
    book.job("req_1")
    refused = run("jobs", "--limit", "3", "show", "req_1")
    assert (refused.exit_code, "--limit" in refused.stderr) == (2, True)
    for words in (["--home", str(home), "show", "req_1"], ["show", "req_1", "--home", str(home)]):
        assert run("jobs", *words).exit_code == 0
    elsewhere = run("jobs", "--home", str(tmp_path / "other"), "show", "req_1")
    assert (elsewhere.exit_code, "No job was ever sent" in elsewhere.stderr) == (2, True)


def test_resume_takes_no_job_up_without_its_key(run: Run, home: Path, live: RawServer) -> None:
    """Of another service, or of another key at this one: named with what is missing, and not asked about."""
    with ledger_in(home, SERVICE, KEY) as ledger:
        Book(ledger).job("req_elsewhere")
    assert run("jobs", "resume").exit_code == 1
    assert live.seen == []
    with ledger_in(home, live.url, Secret("sk-other")) as ledger:
        Book(ledger).job("req_other")
    result = run("jobs", "resume")
    assert (result.exit_code, result.stderr.count("1 job of ")) == (1, 2), result.output
    assert "1 job of service.example left as before" in result.stderr
    assert "REELBOOK_API_KEY" in result.stderr
    assert run("jobs", "resume", "req_other").exit_code == 1
    assert not any("status" in exchange.first_line for exchange in live.seen)


def test_resume_says_what_failed_and_fetches_the_rest(
    run: Run, home: Path, sandbox: Sandbox, clips: TinyClips
) -> None:
    """Two jobs of a kernel that is gone, one fails: the other's clip is fetched, and it ends in 1."""
    sandbox.settings(fail_next="content policy")
    with http_client(sandbox) as http, ledger_in(home, "sandbox", sandbox.api_key) as ledger:
        ids = [Client(sandbox, http).submit(duration_seconds=1) for _ in range(2)]
        for request_id in ids:
            Book(ledger).job(request_id)
    result = run("jobs", "resume")
    assert result.exit_code == 1, result.output
    [line] = result.stdout.splitlines()
    assert re.fullmatch(rf"\S+{ids[1]}\.mp4: 1\.0 s, 64 × 36, \d+ kB, \$0\.05, sandbox", line)
    assert f"{ids[0]}: The service couldn't make this clip: “content policy”" in result.stderr
    assert "1 clip fetched, 1 failed." in result.stderr
    assert run("jobs", "resume").stderr == "There is nothing to fetch.\n"


def test_what_was_left_unsent_is_sent_when_that_is_asked_for(run: Run, home: Path, live: RawServer) -> None:
    """The list says how many and what they cost; resume alone sends nothing, --unsent sends them once."""
    with ledger_in(home, live.url, Secret("sk-planted-cli")) as ledger:
        ledger.intend([fox(prompt="a fox"), fox(prompt="an owl")])
    said = "2 clips not sent before the program ended; nothing was paid. To send what is left, for about "
    assert f"{said}$0.50:\n  reelbook jobs resume --unsent" in run("jobs").stderr
    assert f"{said}$0.50:\n" in run("jobs", "resume").stderr
    assert [each for each in live.seen if each.first_line.startswith("POST")] == []
    result = run("jobs", "resume", "--unsent")
    assert "Sending 2 clips for about $0.50.\nWatching 2 jobs. 2 of them sent only now." in result.stderr
    assert "\n: " not in result.stderr, "each has a name before it has an id"
    assert len([each for each in live.seen if each.first_line.startswith("POST")]) == 2
    assert "not sent" not in run("jobs").stderr


def test_ctrl_c_leaves_the_jobs_and_says_how_to_come_back(
    run: Run, home: Path, folder: Path, clips: TinyClips
) -> None:
    """The waiting ends in 130; the very command that is said brings the clip home later."""
    with server.in_thread(home, pace=600, rate_limiting=False, executor=clips) as sandbox:
        with http_client(sandbox) as http, ledger_in(home, "sandbox", sandbox.api_key) as ledger:
            Book(ledger).job(Client(sandbox, http).submit(duration_seconds=1))
        waiting = start("jobs", "resume", cwd=folder)
        read_until(waiting, "Pending")
        waiting.send_signal(signal.SIGINT)
        _, said = waiting.communicate(timeout=WAIT_SECONDS)
        assert waiting.returncode == 130
        assert said.endswith("To get what is missing:\n  reelbook jobs resume\n")
        sandbox.advance(600)
        again = run("jobs", "resume")
    assert again.exit_code == 0, again.stderr
    assert Path(again.stdout.partition(": ")[0]).is_file()
    assert len(clips.specs) == 1


def test_a_receipt_is_printed_from_the_ledger(run: Run, sandbox: Sandbox, folder: Path) -> None:
    """Of one experiment, or of all with tools' clips; a mistyped one doesn't look free; nothing is asked. It
    is written for a spreadsheet, where a file that is there stays, unless --force; “-” prints it.
    """

    def last_line(*words: str) -> str:
        return run("jobs", "receipt", *words).stdout.splitlines()[-1]

    with rb.connect("sandbox") as session:
        with session.experiment("fog"):
            session.text_to_video("a fox", duration_seconds=2).result(30)
        session.text_to_video("a hen", duration_seconds=1).result(30)
    asked = sandbox.state()["requests"]
    head, line, _ = run("jobs", "receipt", "fog").stdout.splitlines()
    assert (head, line.endswith("a fox")) == ("“fog” (sandbox, play money).", True)
    assert last_line() == "2 clips, 3 s: $0.15 charged."
    slip = run("jobs", "receipt", "frog")
    said = "Nothing was bought in an experiment called “frog”. The last ones are “fog”.\n"
    assert (slip.exit_code, slip.stderr) == (2, said)

    written = run("jobs", "receipt", "fog", "--csv", "fog.csv")
    assert (written.exit_code, written.stdout) == (0, "fog.csv: 1 clip, 2 s: $0.10 charged.\n")
    with (folder / "fog.csv").open(encoding="utf-8-sig", newline="") as file:
        assert [line["prompt"] for line in csv.DictReader(file)] == ["a fox", ""]
    for name, why in (("nowhere/fog.csv", "There is no folder"), ("fog.csv", "already exists")):
        refused = run("jobs", "receipt", "--csv", name)
        assert (refused.exit_code, why in refused.stderr) == (2, True)
    assert run("jobs", "receipt", "--csv", "fog.csv", "--force").exit_code == 0
    assert run("jobs", "receipt", "fog", "--csv", "-").stdout.startswith("submitted_at,request_id,")
    assert sandbox.state()["requests"] == asked

    with rb.connect("sandbox") as session:
        call = session.call_tool("generate_video_from_text", {"prompt": "an owl", "duration_seconds": 1})
        session.job(call.result(30).structured["request_id"]).result(30)
    assert last_line() == "3 clips, 4 s: $0.20 charged."
    assert last_line("fog") == "1 clip, 2 s: $0.10 charged."
    assert "$0.20 spent ($0.05 through agent tools) · $0.00 reserved" in run("jobs").stderr


def test_picked_clips_are_handed_over_as_a_page(run: Run, sandbox: Sandbox, tmp_path: Path) -> None:
    """Those that are picked, in that order, with notes and votes, or named ones; no file is replaced."""
    with rb.connect("sandbox") as session:
        jobs = [session.text_to_video(f"a {name}", duration_seconds=1) for name in ("fox", "wolf", "owl")]
        for job in jobs:
            job.result(30)
        session.pick(jobs[1], note="the tail")
        session.pick(jobs[0])
        study = rb.Study(jobs[:2])
        study.vote(Pair(*study.clips), "left")
    assert [job["id"] for job in listed(run, "--picked")] == [jobs[1].request_id, jobs[0].request_id]
    page = tmp_path / "two.html"
    assert run("jobs", "export", str(page), "--title", "Two").stdout.startswith(f"{page}: 2 clips, ")
    text = page.read_text("utf-8")
    assert re.findall(r"a <mark>(\w+)</mark>", text) == ["wolf", "fox"]
    assert "the tail" in text
    assert re.findall(r"won . of 1 vote", text) == ["won 0 of 1 vote", "won 1 of 1 vote"]
    again = run("jobs", "export", str(page), str(jobs[2].request_id))
    assert (again.exit_code, "already exists" in again.stderr) == (2, True)
    run("jobs", "export", str(page), str(jobs[2].request_id), "--force", "--no-prompts")
    assert "<mark>" not in page.read_text("utf-8")
