// A class: the form that opens it, who used their key, the question before it is closed, and the proof.
import { input, labelled, revokeQuestion, stateCell } from "./_account.js";
import {
  drawProgress, filledButton, h, openPanel, plainButton, progressBar, setText, showText, tell,
} from "./_dom.js";
import { keepAsking } from "./_live.js";

const COLUMNS = ["Student", "Key", "State", "Last used"];

/**
 * The messages of the kernel; none has a key in it.
 * @typedef {{name: string, figures: string, where: string, joined: string, clips: string[]}} Served
 * @typedef {[string, string, string, string]} Row name, preview of the key, state, last used
 * @typedef {{id: number, name: string, summary: string, interrupted: string, limits: string, sheet: string,
 *   rows: Row[], others: Row[]}} Room
 * @typedef {{lines: string[], warning: string, problems: Record<string, string>, keys: number, ready: boolean,
 *   why: string, fixed: boolean}} Plan what the form would come to; `fixed`: the class was opened before
 * @typedef {{heard: boolean, sandbox: boolean, doing: string, working: boolean,
 *   progress: [string, number, number] | null, asked: number, question: string, revoke: number,
 *   closed: string, closed_name: string, closed_others: Row[], most: number, largest: number,
 *   usual: [string, number, string]}} Now
 *   `most`: requests a minute; `largest`: bytes of a file; `usual`: name, requests a minute and USD
 */

function render({ model, el }) {
  const frame = openPanel(model, el, "classroom_panel", "Classroom");
  /** @type {Partial<Now>} */
  let now = {};
  /** @type {Room[]} */
  let rooms = [];
  /** @type {Partial<Plan>} */
  let plan = {};
  /** @type {Served | null} */
  let served = null; // the class that is served from this home
  let wanted = false; // the form, beside a class that is open
  const problems = {};
  const fields = {};

  const badge = h("span", { class: "rb-badge", hidden: true }, "sandbox");
  const doing = h("span", { class: "rb-quiet rb-sum" });
  const refresh = plainButton("Refresh", () => tell(model, { name: "refresh" }));
  const another = plainButton("New class", () => {
    wanted = true;
    draw();
    fields.students.focus();
  });

  const bar = progressBar();
  const progressText = h("span");
  const stop = plainButton("Stop", () => tell(model, { name: "stop" }));
  const stops = h("span", { class: "rb-quiet" }, "It stops between two keys, and you can continue at any time.");
  const progress = h("div", { class: "rb-sheet", hidden: true }, progressText, bar,
    h("div", { class: "rb-acts" }, stop, stops));

  // The form. What is typed goes to Python, which says what it would come to.
  let soon = 0;
  const values = () => ({
    fields: Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.value])),
  });
  const ask = () => {
    clearTimeout(soon);
    soon = setTimeout(() => tell(model, { name: "plan", ...values() }), 300);
  };
  frame.onClose(() => clearTimeout(soon));
  const field = (name, label, control, hint) => {
    control.addEventListener("input", () => {
      plan.ready = false;
      plan.why = " ";
      drawPlan();
      ask();
    });
    fields[name] = control;
    problems[name] = labelled(control, label, hint);
    return problems[name].node;
  };
  const names = h("textarea", { rows: 7, spellcheck: "false", autocomplete: "off" });
  const file = h("input", { type: "file", accept: ".csv,.txt,.tsv,text/*", hidden: true });
  file.addEventListener("change", () => {
    take(file.files[0]);
    file.value = "";
  });
  const take = async (chosen) => {
    if (!chosen) return;
    if (chosen.size > now.largest) {
      const most = Math.round(now.largest / 1e6);
      return problems.students.show(`This file is over ${most} MB, so it can't be a list of names.`);
    }
    tell(model, { name: "file", file: chosen.name, ...values() }, [await chosen.arrayBuffer()]);
  };
  const lines = h("div", { class: "rb-lines" });
  const warning = h("div", { class: "rb-note rb-odd" });
  const go = filledButton("Create the keys", () => {
    if (go.getAttribute("aria-disabled") === "true") return;
    clearTimeout(soon);
    tell(model, { name: "open", ...values() });
  });
  const why = h("span", { class: "rb-quiet" });
  const leave = plainButton("Cancel", () => {
    wanted = false;
    draw();
    another.focus();
  });
  const more = h("details", {}, h("summary", {}, "Folder and address"), h("div", { class: "rb-more" },
    field("folder", "Folder for the files", input("text"),
      "outside any repository; left empty, one in Reelbook's home"),
    field("address", "Address for the students", input("text"),
      "left empty, where this session reaches the service")));
  const form = h("div", { class: "rb-sheet rb-open", hidden: true }, h("h3", {}, "Open a class"),
    field("students", "Students", names, "a name a line, or drop a CSV file here"),
    h("div", { class: "rb-acts" }, plainButton("Choose a file", () => file.click()), file),
    h("div", { class: "rb-trio" },
      field("name", "Name of the class", input("text")),
      field("rate_limit", "Requests a minute", input("number", { min: 1, inputmode: "numeric" })),
      field("max_spend_usd", "Max spend, USD", input("text", { inputmode: "decimal" }))),
    more, lines, warning, h("div", { class: "rb-acts" }, go, leave, why));
  for (const kind of ["dragover", "drop", "dragleave"]) {
    form.addEventListener(kind, (event) => {
      if (![...(event.dataTransfer?.types || [])].includes("Files")) return;
      event.preventDefault();
      event.stopPropagation();
      names.classList.toggle("rb-over", kind === "dragover");
      if (kind === "drop") take(event.dataTransfer.files[0]);
    });
  }
  const keysText = (count) => `${count} ${count === 1 ? "key" : "keys"}`;
  const drawPlan = () => {
    lines.replaceChildren(...(plan.lines || []).map((line) => h("p", {}, line)));
    setText(warning, plan.warning || "");
    warning.hidden = !(plan.lines || []).length;
    for (const name of Object.keys(fields)) problems[name].show((plan.problems || {})[name] || "");
    if (plan.problems?.folder || plan.problems?.address) more.open = true;
    // What a class was opened with stays.
    more.hidden = Boolean(plan.fixed);
    for (const name of ["rate_limit", "max_spend_usd"]) problems[name].node.hidden = more.hidden;
    const creates = plan.keys ? `Create ${keysText(plan.keys)}` : "Write the sheet";
    setText(go, plan.ready ? creates : "Create the keys");
    setText(why, plan.ready ? "" : plan.why || "Write the students' names first.");
    go.setAttribute("aria-disabled", String(!plan.ready || Boolean(now.doing)));
  };

  // The classes that are open.
  const table = (rows, first) => h("table", {},
    h("thead", {}, h("tr", {}, ...[first, ...COLUMNS.slice(1)].map((word) => h("th", { scope: "col" }, word)))),
    h("tbody", {}, ...rows.map(([name, preview, state, used]) => h("tr", {},
      h("th", { scope: "row" }, name), h("td", { class: "rb-preview" }, preview),
      stateCell(state), h("td", {}, used)))));
  const othersOf = (others) => !others.length ? [] : [
    h("h4", {}, "Keys made by others since it was opened"),
    h("p", { class: "rb-quiet" }, "They are no student's of this class, and are left alone."),
    table(others, "Name"),
  ];
  const list = h("div", { class: "rb-rooms" });
  const revokeAsked = () => tell(model, { name: "end", room: now.asked });
  const { node: question, revoke, ask: askRevoke } = revokeQuestion(frame, model, "Keep it open", revokeAsked);
  const roomOf = (room) => {
    const press = (name) => () => tell(model, { name, room: room.id });
    const end = plainButton("Close the class", press("ask_close"), { "aria-label": `Close the class ${room.name}` });
    closers.set(room.id, end);
    const summary = h("span", { class: "rb-quiet rb-sum" }, room.summary);
    const interrupted = h("div", { class: "rb-note rb-odd rb-acts" },
      h("span", { class: "rb-sum" }, room.interrupted), filledButton("Go on", press("go_on")));
    const sheet = h("p", {}, "The sheet to print, with a card and a key for each student: ", h("code", {}, room.sheet),
      ". Open it in a browser on the machine where this notebook runs, and print it.");
    return h("section", { class: "rb-room", "aria-label": room.name },
      h("div", { class: "rb-acts" }, h("h3", {}, room.name), summary, end),
      ...(room.interrupted ? [interrupted] : []),
      h("p", { class: "rb-quiet" }, room.limits),
      ...(room.interrupted ? [] : [sheet]),
      table(room.rows, COLUMNS[0]), ...othersOf(room.others));
  };
  let closers = new Map();
  const drawRooms = () => {
    const had = [...closers].find(([, button]) => button === document.activeElement);
    closers = new Map();
    list.replaceChildren(...rooms.map(roomOf));
    if (had && closers.has(had[0])) closers.get(had[0]).focus();
  };

  const room = h("section", { class: "rb-room", hidden: true });
  const drawServed = () => {
    room.hidden = !served;
    if (!served) return;
    room.setAttribute("aria-label", served.name);
    room.replaceChildren(
      h("div", { class: "rb-acts" }, h("h3", {}, served.name), h("span", { class: "rb-quiet rb-sum" }, served.figures)),
      h("p", { class: "rb-quiet" }, served.where),
      ...(served.joined ? [h("p", {}, served.joined)] : []),
      ...(served.clips.length ? [h("ul", {}, ...served.clips.map((clip) => h("li", {}, clip)))] : []));
  };

  const proof = h("p");
  const proofTitle = h("h3");
  const proofOthers = h("div", { class: "rb-rooms" });
  const putAway = plainButton("Done", () => tell(model, { name: "put_away" }));
  const closed = h("div", { class: "rb-sheet", hidden: true }, proofTitle, proof, proofOthers,
    h("div", { class: "rb-acts" }, putAway));

  const draw = () => {
    const busy = Boolean(now.doing);
    badge.hidden = !now.sandbox;
    setText(doing, now.progress ? "" : now.doing || (now.heard && !rooms.length && !served ? "No class is open." : ""));
    for (const button of [refresh, another, revoke, ...list.querySelectorAll("button")]) button.disabled = busy;
    progress.hidden = !now.working;
    stop.disabled = !now.progress;
    setText(progressText, now.progress ? now.progress[0] : now.doing || "");
    drawProgress(bar, now.progress?.[2] ? now.progress[1] / now.progress[2] : 0);
    const alone = !rooms.length && !now.closed && !served;
    form.hidden = !now.heard || now.working || !(alone || wanted);
    leave.hidden = alone;
    another.hidden = !now.heard || !form.hidden;
    setText(revoke, `Revoke ${keysText(now.revoke)}`);
    askRevoke(now.question, () => [...closers.values()].find((each) => !each.disabled) || refresh);
    showText(proof, now.closed);
    closed.hidden = proof.hidden;
    setText(proofTitle, `${now.closed_name || ""} is closed`);
    proofOthers.replaceChildren(...othersOf(now.closed_others || []));
    drawPlan();
  };
  const usual = () => {
    const [called, limit, spend] = now.usual;
    fields.name.placeholder = called;
    fields.rate_limit.max = now.most;
    if (!fields.rate_limit.value) fields.rate_limit.value = limit;
    if (!fields.max_spend_usd.value) fields.max_spend_usd.value = spend;
  };

  frame.body.append(h("div", { class: "rb-frame rb-class" },
    h("div", { class: "rb-acts" }, h("b", {}, "Classroom"), badge, doing, refresh, another),
    frame.message, room, progress, question, closed, form, list));
  let said = "";
  const hears = {
    served(content) {
      served = content.room;
      drawServed();
      draw();
    },
    rooms(content) {
      rooms = content.rooms;
      drawRooms();
      draw();
    },
    plan(content) {
      plan = { ...content };
      drawPlan();
      frame.say((plan.lines || []).slice(0, 2).join(" "));
    },
    draft(content) {
      for (const name of Object.keys(fields)) fields[name].value = content.fields[name] || "";
      wanted = wanted && Boolean(content.fields.students);
      if (now.usual) usual();
    },
    now(content) {
      const first = !now.usual;
      now = content;
      if (first) usual();
      draw();
      const news = now.progress || model.get("message").text ? "" : now.closed || now.doing;
      if (news && news !== said && !now.asked) frame.say(news);
      said = news || said;
    },
  };
  frame.listen("msg:custom", (content) => hears[content.name]?.(content));
  keepAsking(frame, model);
  return () => frame.close();
}

export default { render };
