"""A class in a page: opened for three students, looked at and closed, by mouse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browser.lab import Notebook, says, shown, tells, until

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser]

PANEL = "panel67 = rb.ClassroomPanel(session)\npanel67"
NAMES = ("Ada Lovelace", "Grace Hopper", "Alan Turing")


def test_a_class_is_opened_looked_at_and_closed(notebook: Notebook, page: Page, tmp_path: Path) -> None:
    """Its names come from a file; neither page nor saved notebook has a key, and the list proves the end."""
    cell = notebook.run(PANEL)
    panel = shown(cell, ".rb-class")
    panel.get_by_label("Students", exact=False).first.wait_for()
    file = tmp_path / "class.csv"
    file.write_text("\n".join(["name", *NAMES]))
    panel.locator("input[type=file]").set_input_files(file)
    says(cell, "no student could reach it")  # the sandbox is this machine's only
    panel.get_by_label("Address for the students").fill(notebook.value("session.base_url"))
    says(cell, "Creating 3 keys takes a few seconds")
    panel.get_by_role("button", name="Create 3 keys").click()
    says(cell, "3 keys made. The sheet has a card for each student.")
    tells(panel.locator("tbody"), *NAMES)
    folder = Path(notebook.value("panel67.rooms[0].classroom.folder"))
    sheet = (folder / "sheet.html").read_text()
    secrets = [each.read_text().partition("API_KEY=")[2].splitlines()[0] for each in folder.glob("*.txt")]
    assert len(secrets) == 3
    assert all(secret in sheet for secret in secrets)

    end = panel.get_by_role("button", name="Close the class")
    end.click()
    says(cell, "3 keys are revoked for good")
    until(panel, "() => document.activeElement.textContent === 'Keep it open'")
    page.keyboard.press("Escape")
    until(panel, "(e) => e.querySelector('.rb-ask').hidden")
    end.click()
    panel.get_by_role("button", name="Revoke 3 keys").click()
    says(cell, "3 of 3 keys revoked, by the service's own list.")
    saved = json.dumps(notebook.save())
    seen = page.content()
    assert not [secret for secret in secrets if secret in saved + seen]
    assert not [name for name in NAMES if name in saved]
    panel.get_by_role("button", name="Done").click()
    panel.get_by_role("heading", name="Open a class").wait_for()
