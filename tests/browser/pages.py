"""What JupyterLab and the classic Notebook have in common as pages, and the browser they are opened in."""

import ast
import base64
import json
import shutil
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from playwright.sync_api import Error, Locator, Page, ViewportSize, sync_playwright

from reelbook.widgets import bundle

SECONDS = 1000
# What anything may take on a slow and busy machine. It only bounds failures: nothing waits for it to pass.
PATIENCE = 300
# Milliseconds until a page is looked at again: each look costs three processes something.
AGAIN = 150
# Where Debian's Chromium is there without windows it is taken: the same pages cost a fifth less.
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser"))), None
)
CHROMIUM_ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--use-fake-device-for-media-stream",  # a drawn picture for the camera
    "--use-fake-ui-for-media-stream",
]

SIZE: ViewportSize = {"width": 1280, "height": 1000}
EMPTY = {
    "cells": [],
    "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}


@contextmanager
def opened_page() -> Iterator[Page]:
    """A page of the machine's own Chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
        page = browser.new_page(viewport=SIZE)
        page.set_default_timeout(PATIENCE * SECONDS)
        yield page
        browser.close()


def load(page: Page, module: str, *names: str) -> None:
    """Loads a module of the panels into a page without a notebook, as `loaded` with these functions of it."""
    code = f"{bundle.module(module)}\nexport {{ {', '.join(names)} }};"
    url = f"data:text/javascript;base64,{base64.b64encode(code.encode()).decode()}"
    page.evaluate("async (url) => { window.loaded = await import(url); }", url)


@contextmanager
def unbroken(page: Page) -> Iterator[None]:
    """No script of the page may fail meanwhile."""
    broken: list[str] = []

    def note(error: Error) -> None:
        broken.append(error.stack or error.message)

    page.on("pageerror", note)
    try:
        yield
    finally:
        page.remove_listener("pageerror", note)
    assert not broken, "Scripts of the page failed:\n" + "\n".join(broken)


def seen_in(page: Page) -> str:
    """What the page shows, for the report of a test that failed."""
    try:
        panels: list[str] = page.evaluate(
            "[...document.querySelectorAll('.rb, [data-mime-type$=stderr]')]"
            ".map((part) => `${part.ariaLabel ?? 'Said by the kernel'}: ${part.innerText}`)"
        )
        focus: str = page.evaluate("document.activeElement?.outerHTML.slice(0, 200) ?? ''")
    except Error as gone:
        return f"It can't be asked: {gone}"
    return "\n---\n".join([*(panel[:2000] for panel in panels), f"The focus is on {focus}"])


_BOUNDED = """(code) => Promise.race([
  (%s)(code),
  new Promise((_, late) => setTimeout(late, %d, new Error(`This cell never ended:\n${code}`))),
])"""


def wait_until(page: Page, look: Callable[[], bool], late: Callable[[], str], *, seconds: float = 0) -> None:
    """Looks until it is true, and has been for so many seconds. `late` says what is missing in the end."""
    end = time.monotonic() + PATIENCE
    since = None
    while True:
        if not look():
            since = None
            assert time.monotonic() < end, late()
        elif time.monotonic() - (since := since or time.monotonic()) >= seconds:
            return
        page.wait_for_timeout(AGAIN)


class OpenNotebook(ABC):
    """One notebook open in a page: run code in it, look at what a cell shows.

    What is in capitals are scripts for the page, but for `CELLS`, a selector, and `FIRST`.
    """

    CELLS: ClassVar[str]
    RUN: ClassVar[str]  # gives the place of the cell, and its outputs
    START: ClassVar[str]  # gives the place of the cell
    OUTPUTS: ClassVar[str]  # how many the cell at a place has
    ASK: ClassVar[str]  # gives the kernel's reply to code and an expression, without a cell
    FIRST: ClassVar[str] = ""  # what the address ends in when the page is first opened
    BUSY: ClassVar[str]
    COUNTS: ClassVar[str]
    CLEAR: ClassVar[str]
    SAVE: ClassVar[str]
    IS_SAVED: ClassVar[str]
    IS_READY: ClassVar[tuple[str, ...]]

    def __init__(self, page: Page, url: str, folder: Path, name: str = "test") -> None:
        self.page = page
        self.file = folder / "work" / f"{name}.ipynb"
        self.file.write_text(json.dumps(EMPTY))
        self.url = self._address(url, name)
        self._open(self.FIRST)

    @abstractmethod
    def _address(self, url: str, name: str) -> str: ...

    def run(self, code: str) -> Locator:
        """Runs `code` in a new cell at the end and waits for it; returns the cell. No error may end it."""
        return self.page.locator(self.CELLS).nth(self._run(code)[0])

    def start(self, code: str) -> None:
        """Runs `code` in a new cell and waits only until it is under way."""
        place = self.page.evaluate(self.START, f"print('begun', flush=True)\n{code}")
        self.page.wait_for_function(self.OUTPUTS, arg=place)

    def execute(self, code: str) -> None:
        """Executes `code` and waits for it, without a cell: a cell costs two or three times as much."""
        self._ask(code, "None")

    def press(self, *keys: str) -> None:
        """Presses the keys one after the other."""
        for key in keys:
            self.page.keyboard.press(key)

    def reload(self) -> None:
        """Loads the page anew; the kernel goes on."""
        self._open()

    def busy(self) -> bool:
        """Whether the kernel is running a cell."""
        return bool(self.page.evaluate(self.BUSY))

    def value(self, expression: str) -> Any:
        """What `expression` is in the kernel; no cell is run for it."""
        return json.loads(ast.literal_eval(self._ask("", f"__import__('json').dumps({expression})")))

    def comes_to(self, expression: str, expected: object) -> None:
        """Waits until `expression` is `expected` in the kernel.

        A kernel with subshells hears the page on another thread than the one that runs cells: what was done
        in the page before a cell was run may arrive after it.
        """
        wait_until(
            self.page,
            lambda: bool(self.value(expression) == expected),
            lambda: f"{expression} never came to {expected!r}, it is {self.value(expression)!r}",
        )

    def executions(self) -> list[int | None]:
        """Each cell's execution count: a cell that ran again has another one, a new cell adds one."""
        counts: list[int | None] = self.page.evaluate(self.COUNTS)
        return counts

    def clear(self) -> None:
        """Ends what earlier tests showed, in the kernel and in the page: many cells make it slow."""
        self.execute("ipywidgets.Widget.close_all()")
        self.page.evaluate(self.CLEAR)

    def save(self) -> dict[str, Any]:
        """Saves the notebook and reads it back."""
        for _ in range(20):
            self.page.evaluate(self.SAVE)
            if self.page.evaluate(self.IS_SAVED):  # no panel put its still form there meanwhile
                break
            self.page.wait_for_timeout(500)
        else:
            raise AssertionError("the notebook is changed again and again while it is saved")
        saved: dict[str, Any] = json.loads(self.file.read_text())
        return saved

    def _run(self, code: str) -> tuple[int, str]:
        """The place of the cell, and what it printed."""
        place, outputs = self.page.evaluate(_BOUNDED % (self.RUN, PATIENCE * SECONDS), code)
        for output in outputs:
            assert output["output_type"] != "error", f"{output['ename']}: {output['evalue']} in:\n{code}"
        printed = [output["text"] for output in outputs if output.get("name") == "stdout"]
        return place, "".join("".join(text) for text in printed)

    def _ask(self, code: str, expression: str) -> str:
        """What `expression` is once `code` was executed, as it is represented. No error may end either."""
        reply = self.page.evaluate(_BOUNDED % (self.ASK, PATIENCE * SECONDS), [code, expression])
        for answer in (reply, reply.get("user_expressions", {}).get("value")):
            assert answer["status"] == "ok", f"{answer['ename']}: {answer['evalue']} in {code or expression}"
        text: str = answer["data"]["text/plain"]
        return text

    def _open(self, query: str = "") -> None:
        self.page.goto(f"{self.url}{query}")
        for script in self.IS_READY:
            self.page.wait_for_function(script, polling=AGAIN)
