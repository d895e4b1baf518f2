"""The tool explorer in a page: a clip made through a tool, by mouse and by keyboard, and hostile tools."""

import base64
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from playwright.sync_api import Page
from widgets.test_schema_form import forms

from browser.lab import PLAYS, Notebook, says, shown, until
from browser.pages import load
from reelbook.widgets.schema_form import ToolForm, form_of

HOSTILE = """
import concurrent.futures
from reelbook.agent_tools.types import Resource, TextContent, Tool, ToolResult
from types import SimpleNamespace
from reelbook.widgets.tool_explorer import ToolPanel

evil = '<script>window.hurt = 1</script><img src=x onerror="window.hurt = 1">'
deep = evil
for _ in range(500): deep = [deep]
link = Resource('javascript:window.hurt=1', evil)
result = ToolResult((TextContent(evil + 'long ' * 10_000_000), link),
                    {evil: deep, 'rows': [{'n': n} for n in range(50_000)],
                     '\\ud800': '\\udfff'})
words = {'type': 'string', 'title': evil, 'description': evil, 'default': evil, 'examples': [evil],
         'pattern': '^(a+)+$'}
lists = {'type': 'object', 'title': evil, 'properties': {evil: {'type': 'array', 'items': words}}}
schema = {'type': 'object', 'title': evil, 'properties': {
    evil: words, 'pick': {'enum': [evil]}, 'self': {'$ref': '#'}, 'raw': {'type': 'object'}, 'nested': lists}}

class Run:
    done = True
    def result(self, timeout=None): return result
    def cancel(self): pass
    def on_end(self, callback): callback(self)

class Session:
    service, sandbox, closed = 'live', SimpleNamespace(mcp_url=f'https://{evil}'), False
    def _list_tools(self):
        listed = concurrent.futures.Future()
        listed.set_result(tuple(Tool(f'{k}{evil}', evil, evil * 50_000, schema) for k in range(400)))
        return listed
    def call_tool(self, name, arguments, on_progress): return Run()

hostile = ToolPanel(Session(), print)
hostile"""


def test_a_clip_is_made_through_a_tool_and_played(notebook: Notebook, page: Page) -> None:
    """Open the explorer, fill in the form, call, take up the job, watch the clip."""
    cell = notebook.run("explorer = rb.ToolExplorer(session)\nexplorer")
    panel = shown(cell, ".rb-explorer")
    panel.get_by_role("button", name="generate_video_from_text").click()
    says(cell, "Submit a job that makes a clip from a prompt.")
    panel.get_by_role("button", name="Call", exact=True).click()
    says(cell, "This is needed.")
    panel.get_by_label("Prompt").fill("a red fox in snow")
    panel.get_by_label("Duration seconds").fill("1")
    panel.get_by_label("Aspect ratio").select_option("1:1")
    panel.get_by_role("button", name="Call", exact=True).click()
    panel.get_by_role("button", name="Watch this job").click()
    card = shown(cell, ".rb-of-job_card .rb-card")
    until(card, PLAYS)
    assert card.locator("video").evaluate("(video) => video.videoWidth === video.videoHeight")
    notebook.comes_to("explorer.result.structured['request_id'] == explorer.taken.job.request_id", True)
    saved = json.dumps(notebook.save())
    assert notebook.value("session.sandbox.user_id") not in saved


def test_the_explorer_by_keyboard_alone(notebook: Notebook, page: Page) -> None:
    """Arrows in the list, Enter chooses, Ctrl+Enter calls, and no key reaches the notebook."""
    before = notebook.executions()
    cell = notebook.run("again = rb.ToolExplorer(session)\nagain")
    panel = shown(cell, ".rb-explorer")
    first = panel.get_by_role("button", name="generate_video_from_text")
    first.wait_for()
    first.focus()
    for _ in range(4):
        notebook.press("ArrowDown")
    # As when another page asks for them; the focus stays where it is.
    row = panel.locator(".rb-list button").first.element_handle()
    notebook.value("again.panel._heard(None, {'name': 'hello'}, [])")
    page.wait_for_function("(row) => !row.isConnected", arg=row)
    notebook.press("Enter")
    until(panel, "(e) => e.querySelector('h3').textContent === 'See the balance'")
    notebook.press("Control+Enter")
    says(cell, "get_balance answered in")
    says(cell, "balance_usd")
    assert notebook.value("again.result.structured['balance_usd']") > 0
    assert len(notebook.executions()) == len(before) + 1


def test_hostile_tools_harm_neither_page_nor_kernel(notebook: Notebook, page: Page) -> None:
    """Scripts are text, 50 MB and endless nesting come as a part, and the page and the kernel answer on."""
    cell = notebook.run(HOSTILE)
    panel = shown(cell, ".rb-explorer")
    panel.locator(".rb-list button").first.wait_for()
    panel.get_by_role("searchbox").fill("77<script")
    until(panel, "(e) => e.querySelectorAll('.rb-list button:not([hidden])').length === 2")
    panel.get_by_role("button", name="Call", exact=True).click()
    says(cell, "Structured content")
    says(cell, "These are the first 30,000 characters; the panel's .result has all of it.")
    assert panel.locator("a").count() == 0
    assert panel.locator("img, script").count() == 0
    assert panel.evaluate("(e) => e.querySelectorAll('*').length") < 4_000
    assert page.evaluate("window.hurt") is None
    notebook.comes_to("hostile.state", "ready")


@pytest.fixture
def fields(tab: Page) -> Page:
    """An empty page with the module that draws forms, without a notebook."""
    load(tab, "_fields", "drawForm")
    return tab


def drawn(blank: Page, form: ToolForm) -> Any:
    """Draws the form; returns the drafts that it gives back at once."""
    # As text: Playwright has words of its own for some JSON.
    return json.loads(blank.evaluate(_DRAW, json.dumps([form.described(), form.start()])))


def test_drafts_that_the_page_draws_are_the_drafts_it_gives_back(fields: Page) -> None:
    """Whatever the schema: drawn and untouched, a form says the same."""

    @settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
    @given(forms())
    def there_and_back(form: ToolForm) -> None:
        assert form.arguments(drawn(fields, form)) == form.arguments(form.start())

    there_and_back()


def test_a_form_is_filled_in_and_says_what_is_wrong(fields: Page) -> None:
    """A list is a text on each line, a file becomes base64, and problems stand at their fields until these
    are changed.
    """
    form = form_of(
        {
            "type": "object",
            "properties": {
                "tags": {"type": "array", "items": {"type": "string"}},
                "grain": {"type": "number", "default": 2},
                "camera": {"enum": ["still", "pan"]},
                "on": {"type": "boolean", "default": False},
                "day": {"type": "string", "format": "date"},
                "shot": {"type": "object", "properties": {"zoom": {"type": "number"}}},
                "image": {"type": "string", "contentEncoding": "base64"},
                "constructor": {"type": "string"},
            },
        }
    )

    def value() -> Any:
        return form.arguments(json.loads(fields.evaluate("JSON.stringify(drawn.get())")))

    drawn(fields, form)
    assert value() == ({"grain": 2, "on": False}, {})
    fields.get_by_label("Tags").fill("a\n\nb c")
    fields.get_by_label("Camera").select_option("pan")
    fields.get_by_role("checkbox", name="On").check()
    fields.get_by_label("Day").fill("2026-01-31")
    fields.get_by_label("Shot", exact=False).first.fill('{"zoom": 1.5}')
    fields.locator("input[type=file]").set_input_files(
        {"name": "a.png", "mimeType": "image/png", "buffer": b"picture"}
    )
    fields.get_by_text("a.png").wait_for()
    assert value()[0] == {
        "tags": ["a", "b c"],
        "grain": 2,
        "camera": "pan",
        "on": True,
        "day": "2026-01-31",
        "shot": {"zoom": 1.5},
        "image": base64.b64encode(b"picture").decode(),
    }
    problems = fields.locator(".rb-problem:not([hidden])")
    fields.evaluate("(told) => drawn.show(told)", {"tags": "Too short.", "on": "No."})
    assert problems.all_inner_texts() == ["Too short.", "No."]
    fields.get_by_label("Tags").fill("a")
    assert problems.all_inner_texts() == ["No."]
    fields.evaluate("() => drawn.show({})")
    assert problems.count() == 0


_DRAW = """(text) => {
  const [told, drafts] = JSON.parse(text);
  window.drawn = loaded.drawForm(told, drafts, () => {});
  document.body.replaceChildren(drawn.node);
  return JSON.stringify(drawn.get());
}"""
