// The tool explorer: a list, the chosen tool's form, and what a call brought. What a server says is text.
import {
  ask, drawProgress, filledButton, focusedNode, h, plainButton, progressBar, refill, setText, showText, tell,
} from "./_dom.js";
import { countingLines, panel } from "./_live.js";
import { drawForm } from "./_fields.js";
import { drawParts } from "./_results.js";

/**
 * The messages of the kernel.
 * @typedef {{summary: string, rows: Array<{tool: string, name: string, about: string}>}} Rows
 * @typedef {{turn: number, tool: string, title: string, called: string, about: string, hints: string,
 *   fields: import("./_fields.js").Field[], drafts: Record<string, string | boolean>}} ToolForm
 * @typedef {{place: number, button: string, text: string, hint: string}} FoundJob
 * @typedef {{text?: string, tone?: string, parts?: import("./_results.js").Part[], jobs?: FoundJob[]}} Result
 */

export default panel("tool_explorer", "Agent tools", (frame, model) => {
  const where = h("span", { class: "rb-quiet rb-said rb-sum" });
  const again = plainButton("", () => tell(model, { name: "again" }));
  const seeks = { "aria-label": "Search the tools", placeholder: "Search", autocomplete: "off" };
  const search = h("input", { type: "search", ...seeks });
  const count = h("div", { class: "rb-quiet" });
  const list = h("div", { class: "rb-list", role: "group", "aria-label": "Tools" });
  const title = h("h3", { class: "rb-said" });
  const called = h("code", { class: "rb-quiet" });
  const described = { tabindex: 0, role: "group", "aria-label": "Description" };
  const about = h("div", { class: "rb-about rb-said", ...described });
  const hints = h("div", { class: "rb-quiet" });
  const form = h("div", { class: "rb-form" });
  const call = filledButton("", () => send());
  const stop = plainButton("Stop", () => {
    stop.disabled = true;
    tell(model, { name: "stop" });
  });
  const cost = h("span", { class: "rb-quiet" });
  const line = h("div", { class: "rb-lines" });
  const bar = progressBar();
  const told = h("div", { class: "rb-quiet rb-said" });
  const busy = h("div", { class: "rb-busy" }, line, bar, told);
  const outcome = h("div", { class: "rb-note rb-said", hidden: true });
  const jobs = h("div", { class: "rb-jobs" });
  const parts = h("div", { class: "rb-parts" });
  const main = h("div", { class: "rb-main", hidden: true }, h("div", {}, title, " ", called), about, hints, form,
    h("div", { class: "rb-acts" }, call, stop, cost), busy, outcome, jobs, parts);
  const side = h("div", { class: "rb-side" }, search, count, list);
  const both = h("div", { class: "rb-both", hidden: true }, side, main);
  frame.body.append(h("div", { class: "rb-frame rb-explorer" },
    h("div", { class: "rb-acts" }, h("b", {}, "Agent tools"), frame.badge, where, again), frame.message, both));

  // The list: Tab comes to one of its buttons, the arrows go on from there.
  const shown = () => [...list.children].filter((each) => !each.hidden);
  const sift = () => {
    const words = search.value.toLowerCase().split(/\s+/);
    for (const each of list.children) {
      const text = each.textContent.toLowerCase();
      each.hidden = !words.every((word) => text.includes(word));
    }
    mark();
  };
  search.addEventListener("input", () => {
    sift();
    frame.say(`${shown().length} found`);
  });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    shown()[shown().indexOf(focusedNode()) + step]?.focus();
  });
  const mark = () => {
    const on = shown().find((each) => each.dataset.tool === model.get("selected"));
    for (const each of list.children) {
      each.setAttribute("aria-pressed", String(each === on));
      each.tabIndex = each === (on || shown()[0]) ? 0 : -1;
    }
  };
  /** @param {Rows} content */
  const takeRows = (content) => {
    setText(count, content.summary);
    both.hidden = !content.summary;
    search.hidden = content.rows.length <= 8;
    refill(list, content.rows.map(({ tool, name, about }) => {
      const pick = () => {
        keep();
        tell(model, { name: "pick", tool });
      };
      const words = [h("b", {}, name), h("span", { class: "rb-quiet" }, about)];
      return h("button", { type: "button", "data-tool": tool, onclick: pick }, ...words);
    }));
    sift();
  };
  frame.draw(["selected"], mark);

  // The form.
  let tool = "";
  let turn = -1;
  let fields = null;
  let keeping = 0;
  const keep = () => {
    if (!keeping) return;
    clearTimeout(keeping);
    keeping = 0;
    const drafts = fields.get();
    // A form with a large file in it isn't sent at every letter; with the call it is.
    if (JSON.stringify(drafts).length < 200000) tell(model, { name: "typed", tool, drafts });
  };
  const changed = () => {
    call.className = "rb-primary";
    clearTimeout(keeping);
    keeping = setTimeout(keep, 400);
  };
  frame.onClose(keep);
  /** @param {ToolForm} content */
  const takeForm = (content) => {
    if (content.turn === turn) return;
    turn = content.turn;
    keep();
    tool = content.tool;
    main.hidden = !tool;
    if (!tool) return;
    showText(title, content.title);
    showText(called, content.called);
    showText(about, content.about);
    showText(hints, content.hints);
    fields = drawForm(content.fields, content.drafts, changed);
    form.replaceChildren(fields.node);
  };
  const send = async () => {
    if (!tool || model.get("state") === "calling") return;
    clearTimeout(keeping);
    keeping = 0;
    awaited = true;
    const called = fields;
    const answer = await ask(frame, model, { name: "call", tool, drafts: fields.get() });
    if (called !== fields) return; // another form is shown
    const first = fields.show(answer?.problems || {});
    if (!first) return;
    awaited = false;
    first.focus();
    frame.say("Something in the form isn't right yet.");
  };
  frame.root.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (!event.repeat) send();
  });

  // The result.
  let drawn = null;
  let drawnOf = "";
  let awaited = false; // called from this view: its answer is brought into sight
  /** @param {FoundJob} job */
  const jobRow = (job) => {
    const watch = filledButton(job.button, () => take(job, watch));
    return h("div", { class: "rb-acts" }, watch, h("span", { class: "rb-said" }, job.text),
      h("span", { class: "rb-quiet" }, job.hint));
  };
  /** @param {Result} content */
  const takeResult = (content) => {
    const now = JSON.stringify(content);
    if (now === drawnOf) return; // said again to another view
    drawnOf = now;
    if (drawn) drawn.close();
    showText(outcome, content.text);
    outcome.className = `rb-note rb-said rb-${content.tone || ""}`;
    drawn = drawParts(frame, model, content.parts || []);
    parts.replaceChildren(...drawn.nodes);
    jobs.replaceChildren(...(content.jobs || []).map(jobRow));
    next();
    if (content.text) frame.say(content.text);
    if (awaited && (content.text || drawn.nodes.length)) {
      awaited = false;
      // Where not all fits, its beginning is seen.
      for (const node of [parts, jobs, outcome]) node.scrollIntoView({ block: "nearest" });
    }
  };
  const take = (job, button) => {
    tell(model, { name: "take", place: job.place });
    button.disabled = true;
    button.className = "rb-plain";
    setText(button.parentElement.lastElementChild, "It is below.");
    next();
  };
  // Only the next step is a filled button: to take up what a result speaks of, or else to call.
  const next = () => { call.className = jobs.querySelector(".rb-primary") ? "rb-plain" : "rb-primary"; };
  frame.onClose(() => drawn && drawn.close());

  const TAKE = { rows: takeRows, form: takeForm, result: takeResult };
  frame.listen("msg:custom", (content) => TAKE[content.name]?.(content));
  const drawLine = countingLines(frame, line);
  frame.draw(["figures"], () => drawLine(model.get("figures")));
  frame.draw(["state", "words", "progress"], () => {
    const state = model.get("state");
    const calling = state === "calling";
    const now = model.get("words");
    setText(where, state === "listing" ? `Asking ${now.where || "the server"} for its tools.` : now.where);
    again.disabled = state === "listing" || calling;
    setText(again, state === "trouble" ? "Try again" : "Refresh");
    call.setAttribute("aria-disabled", String(calling));
    setText(call, calling ? "Calling" : "Call");
    stop.hidden = !calling;
    stop.disabled = now.stopping;
    setText(cost, now.cost);
    busy.hidden = !calling;
    setText(told, now.progress);
    drawProgress(bar, model.get("progress"));
  });
}, "The kernel doesn't answer. Run the cell again.");
