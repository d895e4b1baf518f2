// The tool explorer: a list, the chosen tool's form, and what a call brought. What a server says is text.
import { freshId, h, openPanel, setText, tell } from "./_dom.js";
import { countingLines, keepAsking } from "./_live.js";
import { copyText } from "./_copy.js";
import { tellWhenLeft } from "./_left.js";
import { drawForm } from "./_fields.js";
import { drawParts } from "./_results.js";

function render({ model, el }) {
  const frame = openPanel(model, el, "tool_explorer", "Agent tools");
  const words = () => model.get("words") || {};
  const plain = (text, act) => h("button", { type: "button", class: "rb-plain", onclick: act }, text);
  const me = freshId("view");

  const where = h("span", { class: "rb-quiet rb-said rb-sum" });
  const badge = h("span", { class: "rb-badge" }, "sandbox");
  const again = plain("Refresh", () => tell(model, { name: "again" }));
  const search = h("input", { type: "search", "aria-label": "Search the tools", placeholder: "Search", autocomplete: "off" });
  const count = h("div", { class: "rb-quiet" });
  const list = h("div", { class: "rb-list", role: "group", "aria-label": "Tools" });
  const trouble = h("div", { class: "rb-note rb-fail", hidden: true });
  const title = h("h3", { class: "rb-said" });
  const called = h("code", { class: "rb-quiet" });
  const about = h("div", { class: "rb-about rb-said" });
  const wholeAbout = plain("Show all of it", () => { about.classList.toggle("rb-open"); drawAbout(); });
  wholeAbout.classList.add("rb-small");
  const hints = h("div", { class: "rb-quiet" });
  const form = h("div", { class: "rb-form" });
  const turn = plain("As JSON", () => tell(model, { name: "turn", view: me, tool, draft: field.get() }));
  const code = plain("Copy as code", () => tell(model, { name: "code", view: me, tool, draft: field.get() }));
  const call = h("button", { type: "button", class: "rb-primary", onclick: () => send() }, "Call");
  const stop = plain("Stop", () => { stop.disabled = true; tell(model, { name: "stop" }); });
  const cost = h("span", { class: "rb-quiet" });
  const copied = h("pre", { class: "rb-said", hidden: true });
  const line = h("div", { class: "rb-lines" });
  const bar = h("div", { class: "rb-bar", role: "progressbar", "aria-label": "Progress", "aria-valuemin": 0, "aria-valuemax": 100 }, h("i"));
  const told = h("div", { class: "rb-quiet rb-said" });
  const busy = h("div", { class: "rb-busy", hidden: true }, line, bar, told);
  const outcome = h("div", { class: "rb-note rb-said", hidden: true });
  const jobs = h("div", { class: "rb-jobs" });
  const parts = h("div", { class: "rb-parts" });
  const past = h("details", { class: "rb-past", hidden: true });
  const main = h("div", { class: "rb-main", hidden: true }, h("div", {}, title, " ", called), about, wholeAbout, hints, form,
    h("div", { class: "rb-acts rb-go" }, call, stop, turn, code, cost), copied, busy, outcome, jobs, parts, past);
  const both = h("div", { class: "rb-both", hidden: true }, h("div", { class: "rb-side" }, search, count, list), main);
  frame.body.append(h("div", { class: "rb-frame rb-explorer" },
    h("div", { class: "rb-acts rb-head" }, h("b", {}, "Agent tools"), badge, where, again), trouble,
    both));

  // The list.
  let searching = 0;
  search.addEventListener("input", () => { clearTimeout(searching); searching = setTimeout(() => tell(model, { name: "search", text: search.value }), 200); });
  frame.onClose(() => clearTimeout(searching));
  list.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const all = [...list.children];
    (all[all.indexOf(document.activeElement) + step] || document.activeElement).focus();
  });
  const mark = () => {
    for (const each of list.children) {
      const on = each.dataset.tool === model.get("selected");
      each.setAttribute("aria-pressed", String(on));
      each.tabIndex = on ? 0 : -1;
    }
    if (list.firstElementChild && !list.querySelector('[tabindex="0"]')) list.firstElementChild.tabIndex = 0;
  };
  const drawRows = (content) => {
    setText(count, content.summary);
    if (search.contains(document.activeElement)) frame.say(content.summary);
    both.hidden = !content.summary;
    search.hidden = !content.many;
    const focused = list.contains(document.activeElement) && document.activeElement.dataset.tool;
    list.replaceChildren(...content.rows.map((row) => h("button", { type: "button", "data-tool": row.tool,
      onclick: () => { flush(); tell(model, { name: "pick", tool: row.tool }); } }, h("b", {}, row.name), h("span", { class: "rb-quiet" }, row.about))));
    mark();
    if (focused) [...list.children].find((each) => each.dataset.tool === focused)?.focus();
  };
  frame.draw(["selected"], mark);

  // The form.
  let tool = "";
  let turned = -1;
  let described = null;
  let field = null;
  let saving = 0;
  const flush = () => {
    if (!saving) return;
    clearTimeout(saving);
    saving = 0;
    const draft = field.get();
    // A form with a large file in it isn't sent at every letter; with the call it is.
    if (JSON.stringify(draft).length < 200000) tell(model, { name: "typed", view: me, tool, draft });
  };
  const changed = () => { copied.hidden = true; call.className = "rb-primary"; clearTimeout(saving); saving = setTimeout(flush, 400); };
  frame.onClose(flush);
  const drawAbout = () => {
    const open = about.classList.contains("rb-open");
    wholeAbout.hidden = !open && about.scrollHeight <= about.clientHeight + 2;
    setText(wholeAbout, open ? "Show less of it" : "Show all of it");
  };
  const showForm = (draft) => {
    field = drawForm(described, draft, changed);
    form.replaceChildren(field.node);
    turn.hidden = described.only_json || !described.fields.length;
    setText(turn, "json" in draft ? "As a form" : "As JSON");
  };
  const takeForm = (content) => {
    if (content.turn === turned) return;
    turned = content.turn;
    clearTimeout(saving);
    saving = 0;
    tool = content.tool;
    main.hidden = !tool;
    if (!tool) return;
    setText(title, content.title);
    setText(called, content.called);
    setText(about, content.about);
    about.classList.remove("rb-open");
    setText(hints, content.hints);
    hints.hidden = !content.hints;
    copied.hidden = true;
    described = content.form;
    showForm(content.draft);
    requestAnimationFrame(drawAbout);
  };
  const send = () => {
    if (!field || model.get("state") === "calling") return;
    clearTimeout(saving);
    saving = 0;
    tell(model, { name: "call", id: freshId("call"), view: me, tool, draft: field.get() });
  };
  frame.root.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); if (!event.repeat) send(); }
  });

  // The result.
  let drawn = null;
  let drawnOf = "";
  const takeResult = (content) => {
    const now = JSON.stringify(content);
    if (now === drawnOf) return;  // said again to another view
    drawnOf = now;
    if (drawn) drawn.close();
    setText(outcome, content.text || "");
    outcome.hidden = !content.text;
    outcome.className = `rb-note rb-said rb-${content.tone || ""}`;
    drawn = drawParts(frame, model, content.parts || []);
    parts.replaceChildren(...drawn.nodes);
    jobs.replaceChildren(...(content.jobs || []).map((job) => h("div", { class: "rb-acts" },
      h("button", { type: "button", class: "rb-primary", onclick: (event) => take(job, event.currentTarget) }, job.button),
      h("span", { class: "rb-said" }, job.text), h("span", { class: "rb-quiet" }, job.hint))));
    next();
    if (content.text) frame.say(content.text);
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
  const takePast = (content) => {
    past.hidden = !content.rows.length;
    const open = past.open;
    past.replaceChildren(h("summary", {}, "Calls before"), ...content.rows.map((row) => h("div", { class: "rb-acts" },
      h("span", { class: "rb-quiet" }, row.when), h("span", { class: "rb-said" }, row.name), h("span", { class: "rb-quiet rb-said" }, row.about),
      ...(row.again ? [h("button", { type: "button", class: "rb-plain rb-small", "aria-label": `Put into the form: ${row.name}, ${row.when}`, onclick: () => tell(model, { name: "past", number: row.number }) }, "Put into the form")] : []))));
    past.open = open;
  };

  frame.listen("msg:custom", (content) => {
    if (content.name === "rows") drawRows(content);
    if (content.name === "form") takeForm(content);
    if (content.name === "result") takeResult(content);
    if (content.name === "recent") takePast(content);
    if (content.name === "draft" && content.view === me && content.tool === tool) { showForm(content.draft); turn.focus(); }
    if (content.name === "code" && content.view === me) {
      const show = (text) => { setText(copied, text); copied.hidden = false; };
      if (content.code) copyText(frame, content.code, code, show);
      else show("There is too much in the form to be copied as code.");
    }
    if (content.name === "problems" && content.tool === tool && field) {
      const first = field.show(content.problems);
      if (first && content.asked && content.view === me) { first.focus(); frame.say("Something in the form isn't right yet."); }
    }
  });
  const drawLine = countingLines(frame, line);
  frame.draw(["figures"], () => drawLine(model.get("figures")));
  frame.draw(["state", "words", "progress"], () => {
    const state = model.get("state");
    const calling = state === "calling";
    const now = words();
    setText(where, state === "listing" ? `Asking ${now.where || "the server"} for its tools.` : now.where || "");
    badge.hidden = !now.sandbox;
    setText(trouble, now.trouble || "");
    trouble.hidden = !now.trouble;
    again.disabled = state === "listing" || calling;
    setText(again, now.trouble ? "Try again" : "Refresh");
    call.setAttribute("aria-disabled", String(calling));
    setText(call, calling ? "Calling" : "Call");
    stop.hidden = !calling;
    stop.disabled = Boolean(now.stopping);
    setText(cost, now.cost || "");
    busy.hidden = !calling;
    setText(told, now.progress || "");
    const share = model.get("progress");
    bar.hidden = share === null;
    bar.firstElementChild.style.width = `${(share || 0) * 100}%`;
    if (share !== null) bar.setAttribute("aria-valuenow", Math.round(share * 100));
  });
  tellWhenLeft(frame, model, ".reelbook-tools");
  keepAsking(frame, model, (silent) => { if (silent && model.get("live")) setText(told, "The kernel doesn't answer. Run the cell again."); });
  return () => frame.close();
}

export default { render };
