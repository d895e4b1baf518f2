"""The sandbox's page and the room's, in a browser: for people without a mouse, on a phone, in the dark."""

from axe_playwright_python.sync_playwright import Axe
from classroom.room.visitors import Visitor
from playwright.sync_api import Page

import reelbook as rb
from reelbook.classroom.room.serving import in_thread
from reelbook.sandbox.handle import Sandbox

LOOKS = [(1280, "light"), (390, "light"), (390, "dark")]


def wrong_with(page: Page) -> list[str]:
    """What axe finds, and whether the page scrolls sideways, in each look."""
    found = []
    for width, scheme in LOOKS:
        page.set_viewport_size({"width": width, "height": 844})
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type] # one of LOOKS
        found += [f"{width} {scheme}: {each['id']}" for each in Axe().run(page).response["violations"]]
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            found.append(f"{width} {scheme}: it scrolls sideways")
    return found


def test_the_sandboxs_page_by_keyboard(tab: Page, sandbox: Sandbox) -> None:
    """Signed in, topped up and given a fault without a mouse; a clip appears without a press."""
    tab.goto(sandbox.url)
    assert wrong_with(tab) == []
    tab.keyboard.press("Tab")
    tab.keyboard.type(sandbox.control_token.reveal())
    tab.keyboard.press("Enter")
    tab.get_by_label("Top up").press("Enter")
    tab.get_by_text("$35.00").wait_for()
    tab.get_by_label("What happens").press("5")
    tab.get_by_label("Times").press("Enter")
    tab.get_by_text("500 to any: happened 0 of 1 time").wait_for()
    tab.get_by_role("button", name="All off").press("Enter")
    tab.get_by_text("No fault is set.").wait_for()
    with rb.connect("sandbox") as session:
        session.text_to_video("a fox", duration_seconds=1).result(60)
    tab.locator("video").wait_for()
    assert wrong_with(tab) == []


def test_a_code_stands_in_one_line_on_the_projector(tab: Page, sandbox: Sandbox) -> None:
    """Also one of the widest letters, and so does the longest address."""
    tab.set_viewport_size({"width": 1920, "height": 1080})
    with rb.connect("sandbox") as session, in_thread(session, "WWW-WWW") as room:
        tab.goto(f"{room.url}/room")
        tab.get_by_label("Token").fill(room.token.reveal())
        tab.get_by_label("Token").press("Enter")
        for shown in ("key", "to"):
            lines = """(part) => {
                if (part.className == "to") part.textContent = "192.168.100.200:8080"
                return part.getBoundingClientRect().height / parseFloat(getComputedStyle(part).fontSize)
            }"""
            assert tab.locator(f".way .{shown}").evaluate(lines) < 1.5


def test_the_rooms_pages(tab: Page, sandbox: Sandbox) -> None:
    """Joined, ordered and voted by keyboard, on the student's page; the teacher's page has the clips. An open
    page sees the end of the class, and says when nobody serves it any more.
    """
    with rb.connect("sandbox") as session, in_thread(session, "FOX-234") as room:
        tab.goto(f"{room.url}/?code={room.code}")
        assert wrong_with(tab) == []
        tab.get_by_label("Your name").fill("Ada")
        tab.get_by_label("Your name").press("Enter")
        tab.get_by_label("Prompt").fill("a fox")
        tab.get_by_label("Prompt").press("Control+Enter")
        tab.locator("video").wait_for()
        assert wrong_with(tab) == []
        tab.goto(f"{room.url}/room")
        tab.get_by_label("Token").fill(room.token.reveal())
        tab.get_by_label("Token").press("Enter")
        tab.locator("video").wait_for()
        assert wrong_with(tab) == []
        with Visitor(room.url) as grace:
            grace.join("Grace")
            for order in [grace.ordered(prompt) for prompt in ("a heron", "an owl")]:
                grace.ended(order)
        tab.get_by_text("Raise cap…").press("Enter")
        each = tab.get_by_label("Each, USD")
        each.fill("0.50")
        each.press("Enter")
        tab.locator("input[name=each]:invalid").wait_for()  # the browser says the least that it can be
        each.fill("3.50")
        each.press("Enter")
        tab.get_by_text("$3.50 each").first.wait_for()
        tab.get_by_text("Vote…").press("Enter")
        tab.get_by_label("Question").press("Enter")
        tab.get_by_text("0 votes by 0 students").wait_for()
        tab.goto(f"{room.url}/mine")
        tab.get_by_role("link", name="Vote").press("Enter")
        better = tab.get_by_role("button", name="A is better")
        better.wait_for()
        assert wrong_with(tab) == []
        better.press("Enter")
        tab.get_by_text("That is all there is to vote on.").wait_for()
        tab.get_by_role("link", name="Back to my clips").press("Enter")
        tab.get_by_role("button", name="Generate").wait_for()
        room.end()
        tab.get_by_role("heading", name="Class has ended").wait_for()
        assert wrong_with(tab) == []
    tab.get_by_text("No answer since").wait_for()
    assert wrong_with(tab) == []
