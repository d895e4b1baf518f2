"""The key manager in a page: a key is made, seen once and revoked, by mouse and by keyboard."""

import json

from browser.lab import Notebook, says, shown, until

MANAGER = "manager = rb.KeyManager(session)\nmanager"
LINES = """(cell) => {
  const text = document.createRange();
  text.selectNodeContents(cell);
  return text.getClientRects().length;
}"""


def test_a_key_is_made_seen_once_and_revoked(notebook: Notebook) -> None:
    """The secret leaves the page with Done, and neither the panel's state nor the saved notebook has it.

    Another view of the panel shows it too, but takes no focus from the one where it was asked for.
    """
    page = notebook.page
    cell, other = notebook.run(MANAGER), notebook.run("manager")
    elsewhere = shown(other, ".rb-keys").get_by_label("The new key")
    panel = shown(cell, ".rb-keys")
    panel.locator("tbody tr").first.wait_for()
    panel.get_by_role("button", name="New key").click()
    panel.get_by_label("Name").fill("Ada by mouse")
    panel.get_by_role("button", name="Create key").click()
    secret = panel.get_by_label("The new key")
    secret.wait_for()
    key = secret.input_value()
    assert key.startswith("sk-sandbox-")
    elsewhere.wait_for()
    assert panel.evaluate("(panel) => panel.contains(document.activeElement)")
    assert panel.get_by_role("button", name="New key").is_disabled()
    with page.expect_download() as download:
        panel.get_by_role("button", name="Download").click()
    assert download.value.suggested_filename == "Ada-by-mouse.txt"
    assert download.value.path().read_text() == f"{key}\n"
    panel.get_by_role("button", name="Done").click()
    assert not secret.is_visible()
    assert [each.input_value() for each in (secret, elsewhere)] == ["", ""]
    assert key not in page.content()
    assert key not in json.dumps(notebook.save())
    parts = f"{key[:20]!r} + {key[20:]!r}"  # the key itself is to be in no cell
    notebook.comes_to(f"{parts} in repr(manager.get_state()) + repr(vars(manager))", False)

    panel.get_by_role("button", name="Revoke Ada by mouse").click()
    says(panel.locator("xpath=ancestor::section[1]/.."), "It can't be taken back.")
    panel.get_by_role("group").get_by_role("button", name="Revoke").click()
    until(
        panel,
        "(e) => [...e.querySelectorAll('tr.rb-gone')].some((r) => r.textContent.includes('Ada by mouse'))",
    )


def test_the_key_is_rotated_by_keyboard_alone(notebook: Notebook) -> None:
    """Enter sends the form, Escape leaves a question, and the old key goes last."""
    page = notebook.page
    before = notebook.executions()
    cell = notebook.run(MANAGER)
    panel = shown(cell, ".rb-keys")
    panel.locator("tbody tr").first.wait_for()
    until(
        panel,
        "(e) => ![...e.querySelectorAll('button')].some((b) => b.textContent === 'Rotate' && b.disabled)",
    )
    panel.get_by_role("button", name="Rotate", exact=True).focus()
    notebook.press("Enter")
    until(panel, "(e) => document.activeElement.tagName === 'INPUT' && e.contains(document.activeElement)")
    notebook.press("Control+A")
    page.keyboard.type("by keyboard")
    notebook.press("Enter")
    says(cell, "This session uses “by keyboard” now.")
    until(panel, "() => document.activeElement.textContent === 'Copy'")
    for _ in range(2):
        notebook.press("Tab")
    notebook.press("Enter")  # Done
    revoke = panel.get_by_role("button", name="Revoke the old key")
    until(
        panel,
        "(e) => ![...e.querySelectorAll('button')].some((b) => /old key/.test(b.textContent) && b.disabled)",
    )
    revoke.focus()
    notebook.press("Enter")
    until(panel, "() => document.activeElement.textContent === 'Keep it'")
    notebook.press("Escape")
    until(panel, "(e) => e.querySelector('.rb-ask').hidden")
    revoke.focus()
    notebook.press("Enter")
    until(panel, "() => document.activeElement.textContent === 'Keep it'")
    notebook.press("Tab", "Enter")
    says(cell, "is revoked.")
    assert notebook.value("session.balance().balance_usd") > 0
    assert len(notebook.executions()) == len(before) + 1  # no key reached the notebook


def test_a_button_that_is_off_or_gone_keeps_the_focus_in_its_panel(notebook: Notebook) -> None:
    """While the kernel works the panel has it, then the button again; a click beside it is the notebook's.

    The panel has it, too, where a button goes with what it stands in.
    """
    notebook.run(
        "import threading\ngo, connection = threading.Event(), rb.ConnectionPanel(session)\n"
        "connection._on_test = lambda: connection._start_work('Testing', lambda: str(go.wait()))"
    )
    panel = shown(notebook.run("connection"), ".rb-connection")
    panel.get_by_role("button", name="Test", exact=True).focus()
    notebook.press("Enter")
    until(panel, "() => document.activeElement.ariaLabel === 'Connection'")
    notebook.value("go.set()")
    until(panel, "() => document.activeElement.textContent === 'Test'")
    assert not panel.evaluate("(panel) => panel.closest('.rb').hasAttribute('tabindex')")
    panel.get_by_role("button", name="Dismiss").focus()
    notebook.press("Enter")
    until(panel, "() => document.activeElement.ariaLabel === 'Connection'")


def test_what_is_being_typed_outlives_a_new_view(notebook: Notebook) -> None:
    """A redrawn cell has the half-typed key, address and name; no saved notebook has the key."""
    cell = notebook.run("connection = rb.ConnectionPanel(session)\nconnection")
    shown(cell, ".rb-connection")
    cell.get_by_label("API key").fill("sk-half")
    cell.get_by_label("Address of the service").fill("https://half")
    keys = notebook.run(MANAGER)
    shown(keys, ".rb-keys tbody tr")
    keys.get_by_role("button", name="Rotate", exact=True).click()
    keys.get_by_label("Name").fill("half a name")
    old = [each.locator(".rb").element_handle() for each in (cell, keys)]
    notebook.run(
        "for panel in (connection, manager): panel._displays[0].update(panel._repr_mimebundle_(), raw=True)"
    )
    for each in old:
        notebook.page.wait_for_function("(former) => !former.isConnected", arg=each)
    assert cell.get_by_label("API key").input_value() == "sk-half"
    assert cell.get_by_label("Address of the service").input_value() == "https://half"
    assert keys.get_by_label("Name").input_value() == "half a name"
    assert "sk-half" not in json.dumps(notebook.save())


def test_the_question_ends_with_its_key(notebook: Notebook) -> None:
    """Revoked elsewhere, the key isn't asked about any more; nothing takes the keyboard from where it is."""
    notebook.run("elsewhere = session.keys.create('elsewhere' + 90 * 'x')")
    panel = shown(notebook.run(MANAGER), ".rb-keys")
    revoke = panel.get_by_role("button", name="Revoke elsewhere")
    # However long the name is, what tells keys apart is on one line, and a button is a line high.
    assert panel.locator("tr", has_text="elsewherex").locator(".rb-preview").evaluate(LINES) == 1
    assert revoke.evaluate("(button) => button.offsetHeight") == panel.get_by_role(
        "button", name="Refresh"
    ).evaluate("(button) => button.offsetHeight")
    revoke.click()
    question = panel.get_by_role("group")
    question.wait_for()
    notebook.run("_ = session.keys.revoke(elsewhere.key_id)")
    panel.get_by_role("button", name="Refresh").click()
    question.wait_for(state="hidden")
    assert notebook.page.evaluate("document.activeElement.textContent") == "Refresh"
