"""The tool explorer in a page: a clip made through a tool, by mouse and by keyboard, and hostile tools."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from widgets.test_schema_forms import DEFINITIONS, FORMS

from browser.lab import PLAYS, Notebook, says, shown, until
from browser.pages import SECONDS
from reelbook.widgets import assets, schema
from reelbook.widgets.schema.drafts import same

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser]

HOSTILE = """
import concurrent.futures
from reelbook.client.tool_values import ResourceLink, TextContent, Tool, ToolResult
from reelbook.widgets.tool_panel import ToolPanel

evil = '<script>window.hurt = 1</script><img src=x onerror="window.hurt = 1">'
deep = evil
for _ in range(500): deep = [deep]
link = ResourceLink('javascript:window.hurt=1', evil)
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

class Source:
    where, sandbox = evil, False
    def list_tools(self):
        listed = concurrent.futures.Future()
        listed.set_result(tuple(Tool(f'{k}{evil}', evil, evil * 50_000, schema) for k in range(400)))
        return listed
    def call(self, name, arguments, on_progress): return Run()
    def recent(self, limit): return []

hostile = ToolPanel(Source(), print)
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
    panel.get_by_role("button", name="Take up as a job").click(timeout=20 * SECONDS)
    card = shown(cell, ".rb-of-card .rb-card")
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
    first.wait_for(timeout=20 * SECONDS)
    first.focus()
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    until(panel, "(e) => e.querySelector('h3').textContent === 'See the balance'")
    page.keyboard.press("Control+Enter")
    says(cell, "get_balance answered in")
    says(cell, "balance_usd")
    assert notebook.value("again.result.structured['balance_usd']") > 0
    assert len(notebook.executions()) == len(before) + 2


def test_hostile_tools_harm_neither_page_nor_kernel(notebook: Notebook, page: Page) -> None:
    """Scripts are text, 50 MB and endless nesting come as a part, and the page and the kernel answer on."""
    cell = notebook.run(HOSTILE)
    panel = shown(cell, ".rb-explorer")
    panel.locator(".rb-list button").first.wait_for(timeout=20 * SECONDS)
    panel.get_by_role("button", name="As JSON").click()
    says(cell, "As a form")
    panel.get_by_role("button", name="Call", exact=True).click()
    says(cell, "Structured content", 60)
    says(cell, "letters came; the page shows the first 300,000.")
    panel.get_by_role("button", name="Show more").click()
    until(panel, "(e) => e.querySelector('.rb-part pre').textContent.length > 30000")
    assert panel.locator("a").count() == 0
    assert panel.locator("img, script").count() == 0
    assert panel.evaluate("(e) => e.querySelectorAll('*').length") < 4_000
    assert page.evaluate("window.hurt") is None
    notebook.comes_to("hostile.state", "ready")


@pytest.fixture
def fields(page: Page) -> Iterator[Page]:
    """An empty page with the module that draws forms, without a notebook."""
    code = f"{assets.module('_fields')}\nexport {{ drawField, showProblems }};"
    url = f"data:text/javascript;base64,{base64.b64encode(code.encode()).decode()}"
    assert page.context.browser is not None
    blank = page.context.browser.new_page()
    blank.evaluate("async (url) => { window.fields = await import(url); }", url)
    yield blank
    blank.close()


def drawn(blank: Page, field: schema.Field, draft: Any) -> Any:
    """Draws the form; returns the draft that it gives back at once."""
    # As text: Playwright has words of its own for some JSON.
    return json.loads(blank.evaluate(_DRAW, json.dumps([schema.described(field), draft])))


def test_a_draft_that_the_page_draws_is_the_draft_it_gives_back(fields: Page) -> None:
    """Whatever the schema and the value: drawn and untouched, a form says the same value."""

    @settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
    @given(FORMS)
    def there_and_back(both: tuple[dict[str, Any], Any]) -> None:
        part, value = both
        field = schema.form_of({**part, "$defs": DEFINITIONS})
        missing: dict[schema.Path, str] = {}
        draft = schema.draft_of(field, value)
        schema.value_of(field, draft, missing)
        assume(not missing)  # the page puts there what is needed
        assert same(schema.value_of(field, drawn(fields, field, draft)), value)

    there_and_back()


def test_parts_of_a_form_are_added_chosen_and_removed(fields: Page) -> None:
    """Items, optional groups and shapes come and go, a file becomes base64, problems find their fields."""
    form = schema.form_of(
        {
            "type": "object",
            "properties": {
                "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
                "style": {"type": "object", "properties": {"grain": {"type": "number", "default": 2}}},
                "camera": {
                    "oneOf": [
                        {"type": "string"},
                        {
                            "type": "object",
                            "title": "Pan",
                            "properties": {"kind": {"const": "pan"}, "on": {"type": "boolean"}},
                            "required": ["kind", "on"],
                        },
                    ]
                },
                "image": {"type": "string", "contentEncoding": "base64"},
            },
        }
    )

    def value() -> Any:
        return schema.value_of(form, json.loads(fields.evaluate("JSON.stringify(drawn.get())")))

    assert schema.value_of(form, drawn(fields, form, schema.start_of(form))) == {}
    add = fields.get_by_role("button", name="Add one to Tags")
    for word in ("a", "b"):
        add.click()
        fields.keyboard.type(word)  # the focus is where the person goes on
    assert add.is_disabled()
    fields.get_by_role("group", name="Tags 1").get_by_role("button", name="Remove").click()
    fields.get_by_role("button", name="Add Style").click()
    fields.get_by_label("Camera").select_option("Pan")
    fields.get_by_role("checkbox", name="On").check()
    fields.locator("input[type=file]").set_input_files(
        {"name": "a.png", "mimeType": "image/png", "buffer": b"picture"}
    )
    fields.get_by_text("a.png").wait_for()
    assert value() == {
        "tags": ["b"],
        "style": {"grain": 2},
        "camera": {"kind": "pan", "on": True},
        "image": base64.b64encode(b"picture").decode(),
    }
    told = {"/tags/0": "Too short.", "/camera/on": "No.", "/style/more/deep": "Odd.", "": "All of it."}
    fields.evaluate("(told) => fields.showProblems(form, told)", told)
    assert fields.locator(".rb-problem:not([hidden])").all_inner_texts() == [
        "Too short.",
        "more/deep: Odd.",
        "No.",
        "All of it.",
    ]
    fields.get_by_role("button", name="Remove Style").click()
    fields.get_by_label("Camera").select_option("Not set")
    assert value().keys() == {"tags", "image"}


_DRAW = """(text) => {
  const [told, draft] = JSON.parse(text);
  window.form = { slots: [], changed: () => {}, blank: true };
  window.drawn = fields.drawField(told, draft, form, () => '', 'Arguments');
  form.blank = false;
  document.body.replaceChildren(drawn.node);
  return JSON.stringify(drawn.get());
}"""
