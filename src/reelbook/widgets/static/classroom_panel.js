// A class: the form that opens it, who used their key, the question before it is closed, and the proof.
import { freshId, h, openPanel, setText, tell } from "./_dom.js";
import { keepAsking } from "./_live.js";
import { fieldProblem } from "./_problem.js";

const COLUMNS = ["Student", "Key", "State", "Last used"];
const LARGEST = 1 << 20;

function render({ model, el }) {
  const frame = openPanel(model, el, "classroom_panel", "Classroom");
  const plain = (text, act) => h("button", { type: "button", class: "rb-plain", onclick: act }, text);
  const filled = (text, act) => h("button", { type: "button", class: "rb-primary", onclick: act }, text);
  const id = (word) => freshId(word);
  let now = {};
  let rooms = [];
  let plan = {};
  let wanted = false;  // the form, beside a class that is open
  const problems = {};
  const fields = {};

  const badge = h("span", { class: "rb-badge", hidden: true }, "sandbox");
  const doing = h("span", { class: "rb-quiet rb-sum" });
  const refresh = plain("Refresh", () => tell(model, { name: "refresh" }));
  const another = plain("New class", () => { wanted = true; draw(); fields.text.focus(); });

  const bar = h("i");
  const progressText = h("span");
  const stop = plain("Stop", () => tell(model, { name: "stop" }));
  const progress = h("div", { class: "rb-sheet", hidden: true }, progressText, h("div", { class: "rb-bar" }, bar),
    h("div", { class: "rb-acts" }, stop, h("span", { class: "rb-quiet" }, "It stops between two keys, and can go on at any time.")));

  // The form. What is typed goes to Python, which says what it would come to.
  let soon = 0;
  const values = () => Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.value]));
  const ask = () => { clearTimeout(soon); soon = setTimeout(() => tell(model, { name: "plan", ...values() }), 300); };
  frame.onClose(() => clearTimeout(soon));
  const field = (name, label, control, hint) => {
    control.id = id(name);
    control.addEventListener("input", () => { plan.ready = false; plan.why = " "; drawPlan(); ask(); });
    fields[name] = control;
    problems[name] = fieldProblem(control);
    return h("div", {}, h("label", { class: "rb-label", for: control.id }, label, ...(hint ? [" ", h("small", {}, hint)] : [])), control, problems[name].node);
  };
  const input = (type, more) => h("input", { type, autocomplete: "off", spellcheck: "false", ...more });
  const names = h("textarea", { rows: 7, spellcheck: "false", autocomplete: "off" });
  const file = h("input", { type: "file", accept: ".csv,.txt,.tsv,text/*", hidden: true, onchange: () => { take(file.files[0]); file.value = ""; } });
  const take = async (chosen) => {
    if (!chosen) return;
    if (chosen.size > LARGEST) return problems.text.show("This file is over 1 MB, so it can't be a list of names.");
    tell(model, { name: "file", file: chosen.name, ...values() }, [await chosen.arrayBuffer()]);
  };
  const lines = h("div", { class: "rb-lines" });
  const warning = h("div", { class: "rb-note rb-odd" });
  const go = filled("Create the keys", () => { if (go.getAttribute("aria-disabled") !== "true") { clearTimeout(soon); tell(model, { name: "open", ...values() }); } });
  const why = h("span", { class: "rb-quiet" });
  const leave = plain("Cancel", () => { wanted = false; draw(); another.focus(); });
  const more = h("details", {}, h("summary", {}, "Folder and address"), h("div", { class: "rb-more" },
    field("folder", "Folder for the files", input("text"), "outside any repository; left empty, one in Reelbook's home"),
    field("address", "Address for the students", input("text"), "left empty, where this session reaches the service")));
  const form = h("div", { class: "rb-sheet rb-open", hidden: true }, h("h3", {}, "Open a class"),
    field("text", "Students", names, "a name a line, or drop a CSV file here"),
    h("div", { class: "rb-acts" }, plain("Choose a file", () => file.click()), file),
    h("div", { class: "rb-trio" },
      field("called", "Name of the class", input("text")),
      field("limit", "Requests a minute", input("number", { min: 1, inputmode: "numeric" })),
      field("spend", "Max spend, USD", input("text", { inputmode: "decimal" }))),
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
  const drawPlan = () => {
    lines.replaceChildren(...(plan.lines || []).map((line) => h("p", {}, line)));
    setText(warning, plan.warning || "");
    warning.hidden = !(plan.lines || []).length;
    for (const name of Object.keys(fields)) problems[name].show((plan.problems || {})[name] || "");
    if (plan.problems?.folder || plan.problems?.address) more.open = true;
    // What a class was opened with stays.
    for (const node of [fields.limit.parentNode, fields.spend.parentNode, more]) node.hidden = Boolean(plan.fixed);
    const count = plan.keys || 0;
    setText(go, !plan.ready ? "Create the keys" : count ? `Create ${count} ${count === 1 ? "key" : "keys"}` : "Write the sheet");
    setText(why, plan.ready ? "" : plan.why || "Write the students' names first.");
    go.setAttribute("aria-disabled", String(!plan.ready || Boolean(now.doing)));
  };

  // The classes that are open.
  const table = (rows, first) => h("table", {},
    h("thead", {}, h("tr", {}, ...[first, ...COLUMNS.slice(1)].map((word) => h("th", { scope: "col" }, word)))),
    h("tbody", {}, ...rows.map(([name, preview, state, used]) => h("tr", {},
      h("th", { scope: "row" }, name), h("td", { class: "rb-preview" }, preview),
      h("td", {}, h("span", { class: `rb-state rb-is-${state.replaceAll(" ", "-")}` }, state)), h("td", {}, used)))));
  const othersOf = (others) => others.length ? [h("h4", {}, "Keys made by others since it was opened"),
    h("p", { class: "rb-quiet" }, "They are no student's of this class, and are left alone."), table(others, "Name")] : [];
  const list = h("div", { class: "rb-rooms" });
  const asked = h("p", { id: id("asked") });
  const revoke = filled("Revoke", () => tell(model, { name: "end", id: now.asked }));
  const keep = plain("Keep it open", () => tell(model, { name: "leave" }));
  const question = h("div", { class: "rb-sheet rb-ask", role: "group", "aria-labelledby": asked.id, hidden: true }, asked,
    h("div", { class: "rb-acts" }, keep, revoke));
  question.addEventListener("keydown", (event) => { if (event.key === "Escape") tell(model, { name: "leave" }); });
  let closers = new Map();
  const drawRooms = () => {
    const had = [...closers].find(([, button]) => button === document.activeElement);
    closers = new Map();
    list.replaceChildren(...rooms.map((room) => {
      const end = plain("Close the class", () => tell(model, { name: "ask_close", id: room.id }));
      end.setAttribute("aria-label", `Close the class ${room.name}`);
      closers.set(room.id, end);
      const path = h("code", {}, room.sheet);
      return h("section", { class: "rb-room", "aria-label": room.name },
        h("div", { class: "rb-acts" }, h("h3", {}, room.name), h("span", { class: "rb-quiet rb-sum" }, room.summary), end),
        ...(room.interrupted ? [h("div", { class: "rb-note rb-odd rb-acts" }, h("span", { class: "rb-sum" }, room.interrupted),
          filled("Go on", () => tell(model, { name: "go_on", id: room.id })))] : []),
        h("p", { class: "rb-quiet" }, room.limits),
        ...(room.interrupted ? [] : [h("p", {}, "The sheet to print, with a card and a key for each student: ", path,
          ". Open it in a browser on the machine where this notebook runs, and print it.")]),
        table(room.rows, COLUMNS[0]), ...othersOf(room.others));
    }));
    if (had && closers.has(had[0])) closers.get(had[0]).focus();
  };

  const proof = h("p");
  const proofTitle = h("h3");
  const proofOthers = h("div", { class: "rb-rooms" });
  const putAway = plain("Done", () => tell(model, { name: "put_away" }));
  const closed = h("div", { class: "rb-sheet rb-proof", hidden: true }, proofTitle, proof, proofOthers, h("div", { class: "rb-acts" }, putAway));

  const draw = () => {
    const busy = Boolean(now.doing);
    badge.hidden = !now.sandbox;
    setText(doing, now.progress ? "" : now.doing || (now.heard && !rooms.length ? "No class is open." : ""));
    for (const button of [refresh, another, revoke, ...list.querySelectorAll("button")]) button.disabled = busy;
    progress.hidden = !now.working;
    stop.disabled = !now.progress;
    setText(progressText, now.progress ? now.progress[0] : now.doing || "");
    bar.style.width = now.progress && now.progress[2] ? `${(100 * now.progress[1]) / now.progress[2]}%` : "0";
    const alone = !rooms.length && !now.closed;
    form.hidden = !now.heard || now.working || !(alone || wanted);
    leave.hidden = alone;
    another.hidden = !now.heard || !form.hidden;
    const opens = question.hidden && now.asked;
    const closes = !question.hidden && !now.asked;
    question.hidden = !now.asked;
    setText(asked, now.question || "");
    setText(revoke, `Revoke ${now.revoke} ${now.revoke === 1 ? "key" : "keys"}`);
    if (opens) { keep.focus(); frame.say(now.question); }
    if (closes) ([...closers.values()].find((each) => !each.disabled) || refresh).focus();
    closed.hidden = !now.closed;
    setText(proofTitle, `${now.closed_name || ""} is closed`);
    setText(proof, now.closed || "");
    proofOthers.replaceChildren(...othersOf(now.closed_others || []));
    drawPlan();
  };
  const usual = () => {
    const [called, limit, spend] = now.usual;
    fields.called.placeholder = called;
    fields.limit.max = now.most;
    if (!fields.limit.value) fields.limit.value = limit;
    if (!fields.spend.value) fields.spend.value = spend;
  };

  frame.body.append(h("div", { class: "rb-frame rb-class" },
    h("div", { class: "rb-acts" }, h("b", {}, "Classroom"), badge, doing, refresh, another),
    frame.message, progress, question, closed, form, list));
  let said = "";
  frame.listen("msg:custom", (content) => {
    if (content.name === "rooms") { rooms = content.rooms; drawRooms(); draw(); }
    if (content.name === "plan") { plan = { ...content }; drawPlan(); frame.say((plan.lines || []).slice(0, 2).join(" ")); }
    if (content.name === "draft") {
      for (const name of Object.keys(fields)) fields[name].value = content[name] || "";
      wanted = wanted && Boolean(content.text);
      if (now.usual) usual();
    }
    if (content.name !== "now") return;
    const first = !now.usual;
    now = content;
    if (first) usual();
    draw();
    const news = now.progress || model.get("message").text ? "" : now.closed || now.doing;
    if (news && news !== said && !now.asked) frame.say(news);
    said = news || said;
  });
  keepAsking(frame, model);
  return () => frame.close();
}

export default { render };
