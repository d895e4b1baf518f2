"""The sheet of a class as it is printed."""

import re
from pathlib import Path

from playwright.sync_api import Page

from reelbook.classroom import handouts
from reelbook.classroom.class_file import Classroom
from reelbook.secret import Secret

PAGE_MM = 297 - 2 * 12
CARDS = """
[...document.querySelectorAll('.card')].map(card => ({
  height: card.getBoundingClientRect().height / 96 * 25.4,
  breaks: getComputedStyle(card).breakInside,
  fits: card.scrollWidth <= card.clientWidth,
}))
"""


def test_thirty_cards_four_on_a_page(tab: Page, tmp_path: Path) -> None:
    """No card is cut by the end of a page or at its side, and nothing is fetched for it."""
    names = [f"Student {number} with quite a long name of {'x' * 25}" for number in range(1, 31)]
    room = Classroom(
        service="https://a",
        name="classroom 2026-11-21",
        label="classroom 2026-11-21 #0000",
        folder=str(tmp_path),
        address="https://api.video.example",
        rate_limit=20,
        max_spend_usd=2.0,
        opened_at=0.0,
        students=dict.fromkeys(names, "k"),
    )
    for name in names:
        handouts.write(room, name, "k", Secret("sk-planted-" + "w" * 48))
    tab.set_viewport_size({"width": 703, "height": 1000})  # 186 mm, what A4 leaves
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.emulate_media(media="print")
    tab.goto(handouts.write_sheet(room).as_uri())
    cards = tab.evaluate(CARDS)
    pdf = tab.pdf(prefer_css_page_size=True)
    assert len(asked) == 1
    assert len(cards) == 30
    assert all(card["breaks"] == "avoid" and card["fits"] for card in cards)
    assert max(card["height"] for card in cards) * 4 <= PAGE_MM
    # The first page has the teacher's part, and three cards.
    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf)) == 8
