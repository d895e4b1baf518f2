"""What made a clip, in a real JupyterLab: dropped on the form, and asked for again."""

from pathlib import Path

from browser.lab import PLAYS, Notebook, says, shown, until
from browser.test_panels import hand_over

FORM = """
saved31 = finished_job().clip.save(overwrite=True)
sent31, form31 = [], rb.PromptForm(session, prompt='something else')
form31.on_msg(lambda _, content, parts: content['name'] == 'passport' and sent31.append(content['size']))
form31
"""


def test_a_clip_that_is_dropped_fills_the_form(notebook: Notebook) -> None:
    """Without its pictures being sent; its JSON, chosen by the button, does the same."""
    cell = notebook.run(FORM)
    form = shown(cell, ".rb-form")
    file = Path(notebook.value("str(saved31)"))
    hand_over(form, "drop", file.read_bytes(), file.name, "video/mp4")
    says(cell, f"Filled from {file.name}.")
    made_of = notebook.value("finished_job().request.arguments()")
    assert form.get_by_label("Prompt").input_value() == made_of["prompt"]
    assert form.locator(".rb-seed input").input_value() == str(made_of["seed"])
    assert notebook.value("len(sent31) == 1 and sent31[0] < saved31.stat().st_size / 2")
    form.locator("input[accept*='.json']").set_input_files(file.with_suffix(".json"))
    says(cell, f"Filled from {file.stem}.json.")


def test_again_asks_which_seed(notebook: Notebook) -> None:
    """The choice opens below; another seed makes another clip of the same prompt."""
    cell = notebook.run("card32 = rb.JobCard(finished_job())\ncard32")
    until(shown(cell, ".rb-card"), PLAYS)
    seed = notebook.value("card32.job.request.seed")
    cell.get_by_role("button", name="Again…").click()
    assert cell.get_by_role("button", name="Same seed · $0.05").is_visible()
    cell.get_by_role("button", name="Another seed · $0.05").click()
    notebook.comes_to(f"card32.job.request.seed != {seed} and card32.job.prompt == 'a boat'", True)
    cell.get_by_role("button", name="Again…").wait_for()
