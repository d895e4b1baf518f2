"""Clips that end while nobody looks at the page: one title and one notification; none while it is seen."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from browser.lab import Notebook, says
from browser.pages import wait_until

# The page as it is while another tab is in front, and what it does then.
AWAY = """(permission) => {
  window.told = { titles: [], shown: [], sounds: 0 };
  window.hidden = true;
  window.genuine = { Notification, AudioContext };
  Object.defineProperty(document, 'hidden', { configurable: true, get: () => window.hidden });
  window.Notification = class {
    static permission = permission;
    static async requestPermission() { return permission; }
    constructor(head, { body, tag }) { window.told.shown.push([head, body, tag]); }
  };
  window.AudioContext = class extends AudioContext {
    constructor() { super(); window.told.sounds += 1; }
  };
  window.watch = new MutationObserver(() => window.told.titles.push(document.title));
  watch.observe(document.querySelector('title'), { childList: true, characterData: true, subtree: true });
  document.dispatchEvent(new Event('visibilitychange'));
}"""
# To the browser's own classes.
RESTORE = """() => {
  watch.disconnect();
  Object.assign(window, genuine);
  delete document.hidden;
}"""
BACK = "() => { window.hidden = false; document.dispatchEvent(new Event('visibilitychange')); }"


@pytest.fixture
def own(notebook: Notebook, page: Page) -> Iterator[Notebook]:
    """The notebook in the browser of a person who never pressed the switch; afterwards it is seen again."""
    forget = "localStorage.removeItem('reelbook-notices')"
    page.evaluate(forget)
    yield notebook
    page.evaluate(BACK)
    page.evaluate(forget)
    page.evaluate(RESTORE)


def test_clips_that_run_together_are_told_once(own: Notebook, page: Page) -> None:
    """Hidden: one title, one notification and one sound for six clips; none while the page is seen."""
    title = page.title()
    page.evaluate(AWAY, "granted")
    board = own.run("rb.JobBoard(session, jobs=())")
    control = board.get_by_role("switch", name="Tell me when clips are done")
    assert control.get_attribute("aria-checked") == "false"
    control.click()
    board.get_by_role("button", name="Sound on").click()
    own.run("studio = rb.Studio(session)\nstudio")
    _run(own, 6)
    _told(page, 1)
    [[head, body, _]] = page.evaluate("told.shown")
    assert (head, body) == ("6 clips are done", "take 0\nand 5 more · $0.30 · sandbox")
    # The notebook writes its title anew now and then, and has it back at once.
    assert page.title() == f"6 done · {title}"
    assert set(page.evaluate("told.titles")) - {title} == {f"6 done · {title}"}
    assert page.evaluate("told.sounds") == 1
    page.evaluate(BACK)
    assert page.title() == title
    _run(own, 2)
    page.wait_for_timeout(3000)
    assert len(page.evaluate("told.shown")) == 1

    page.evaluate("window.hidden = true; document.dispatchEvent(new Event('visibilitychange'))")
    control.click()  # off again: the title alone says it
    assert control.get_attribute("aria-checked") == "false"
    _run(own, 1)
    wait_until(page, lambda: page.title() == f"1 done · {title}", page.title)
    assert len(page.evaluate("told.shown")) == 1


def test_a_browser_that_blocks_notifications_is_named(own: Notebook, page: Page) -> None:
    """The switch can't be pressed, and the reason stands under it."""
    page.evaluate(AWAY, "denied")
    board = own.run("rb.JobBoard(session)")
    says(board, "The browser blocks notifications for this page. The tab's title still says it.")
    assert board.get_by_role("switch").is_disabled()


def _run(notebook: Notebook, clips: int) -> None:
    requests = f"[f'take {{n}}' for n in range({clips})]"
    notebook.run(f"session.submit_many({requests}, duration_seconds=1, again=True).results(); None")


def _told(page: Page, times: int) -> None:
    wait_until(
        page,
        lambda: len(page.evaluate("told.shown")) >= times,
        lambda: f"it was told {page.evaluate('told')}",
        seconds=1,
    )
    assert len(page.evaluate("told.shown")) == times
