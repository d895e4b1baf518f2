// The board: a row for each job, as Python composed it; only changes arrive. One row is open at a time.
import { filledButton, focusedNode, h, restButton, setText, showText, tell } from "./_dom.js";
import { lineText, panel } from "./_live.js";
import { bringIntoView, clipCard } from "./_card.js";
import { noticeSwitch } from "./_notices.js";
import { posters } from "./_posters.js";

/**
 * A row of reelbook.text.board. A message holds only what changed; a row with an `order` is complete.
 * @typedef {{key: string, order?: number, group?: string, prompt?: string, about?: string, word?: string,
 *   tone?: string, bar?: number | null, time?: import("./_live.js").Line, wait?: boolean, money?: string,
 *   picture?: string, chosen?: boolean}} Row `wait`: its time is that of the line for all that wait
 * @typedef {{rows?: Row[], groups?: Record<string, [string, string]>, count?: string, states?: string, money?: string,
 *   note?: string, empty?: string, create?: string, wait?: import("./_live.js").Line,
 *   requests?: import("./_live.js").Line}} Rows the message; `groups`: title and sum by name
 */
const HEAD = ["count", "states", "money", "note", "empty", "create"];

export default panel("job_board", "Board", (frame, model) => {
  const pictures = posters(frame, model);
  const rows = new Map();
  const groups = new Map();
  const head = {};
  let wait = { line: [], since: 0 };
  let requests = { line: [], since: 0 };

  const count = h("b");
  const states = h("span", { class: "rb-quiet" });
  const money = h("span");
  const left = h("span");
  const note = h("div", { class: "rb-note rb-odd", hidden: true });
  const empty = h("p", { class: "rb-quiet" });
  const create = filledButton("", () => tell(model, { name: "create" }));
  const nothing = h("div", { class: "rb-nothing", hidden: true }, empty, create);
  const list = h("div", { class: "rb-rows" });
  const facts = h("span", { class: "rb-board-facts" }, frame.badge, money, left);
  const top = h("div", { class: "rb-board-head" }, count, states, facts);
  frame.body.append(h("div", { class: "rb-board" }, top, frame.message, note, nothing, list, noticeSwitch(frame)));

  // The open row's card: made once and moved under the row that is open.
  const box = h("div", { class: "rb-open-row", hidden: true });
  const face = () => model.get("face");
  clipCard({ ...frame, body: box }, model, face, (name, button) => {
    pressed = name === "again" || name === "another";
    restButton(button, name === "select" ? 200 : undefined);
    tell(model, { name, key: model.get("opened"), picked: !face().picked });
  });

  const passed = (since) => (performance.now() - since) / 1000;
  const drawTime = ({ row, since, parts }) => {
    const counting = row.wait ? wait : { line: row.time, since };
    setText(parts.time, lineText(counting.line, passed(counting.since)));
  };
  const tick = () => {
    if (document.hidden) return;
    setText(left, lineText(requests.line, passed(requests.since)));
    for (const shown of rows.values()) if (shown.row.wait || shown.row.time.length > 1) drawTime(shown);
  };
  frame.every(500, tick);

  const build = (key) => {
    const parts = {
      picture: h("img", { alt: "", hidden: true }),
      prompt: h("span", { class: "rb-prompt" }),
      about: h("span", { class: "rb-quiet" }),
      state: h("span", { class: "rb-chip" }),
      bar: h("span", { class: "rb-bar" }, h("i")), // its share is said in words beside it
      time: h("span", { class: "rb-time" }),
      money: h("span", { class: "rb-money" }),
    };
    const press = (event) => {
      const picks = event.ctrlKey || event.metaKey;
      pressed = !picks;
      tell(model, { name: picks ? "select" : "open", key });
    };
    const looks = { type: "button", class: "rb-row", "aria-expanded": "false", tabindex: -1 };
    const button = h("button", { ...looks, onclick: press },
      h("span", { class: "rb-thumb" }, parts.picture),
      h("span", { class: "rb-what" }, parts.prompt, parts.about),
      h("span", { class: "rb-how" }, parts.state, parts.bar), parts.time, parts.money);
    const item = h("div", { class: "rb-item", role: "listitem" }, button);
    const row = { time: [], bar: null }; // these come once they are something
    return { key, row, since: 0, parts, button, item };
  };
  const drawRow = (shown) => {
    const { row, parts, button, key } = shown;
    const open = model.get("opened") === key;
    setText(parts.prompt, (open && face().prompt) || row.prompt);
    setText(parts.about, row.chosen ? `Selected · ${row.about}` : row.about);
    setText(parts.state, row.word);
    parts.state.className = `rb-chip rb-${row.tone}`;
    parts.bar.hidden = row.bar === null;
    parts.bar.firstElementChild.style.width = row.bar > 0 ? `${row.bar * 100}%` : "0";
    setText(parts.money, row.money);
    button.classList.toggle("rb-chosen", row.chosen);
    button.setAttribute("aria-expanded", String(open));
    if (row.picture) pictures.show(parts.picture, row.picture);
    drawTime(shown);
  };

  const group = (name) => {
    if (!groups.has(name)) {
      const title = h("b");
      const sum = h("span", { class: "rb-quiet" });
      const items = h("div", { role: "list" });
      const heading = h("div", { class: "rb-group", role: "heading", "aria-level": 3, hidden: true }, title, sum);
      groups.set(name, { name, title, sum, heading, items, node: h("div", {}, heading, items), newest: -1 });
    }
    return groups.get(name);
  };
  const place = (shown) => {
    const { items } = group(shown.row.group);
    const older = (node) => rows.get(node.dataset.key).row.order < shown.row.order;
    shown.item.dataset.key = shown.key;
    const last = items.lastElementChild;
    items.insertBefore(shown.item, !last || !older(last) ? null : [...items.children].find(older));
  };
  const placeGroups = () => {
    for (const each of groups.values()) {
      each.newest = rows.get(each.items.firstElementChild?.dataset.key)?.row.order ?? -1;
    }
    const sorted = [...groups.values()].sort((a, b) => b.newest - a.newest);
    const focused = list.contains(focusedNode()) ? focusedNode() : null;
    sorted.forEach((each, at) => {
      if (list.children[at] !== each.node) list.insertBefore(each.node, list.children[at] ?? null);
      // Jobs without an experiment need a heading only below other groups.
      each.heading.hidden = !each.title.textContent || (!each.name && at === 0);
    });
    focused?.focus();
  };

  const buttons = () => [...list.querySelectorAll(".rb-row")];
  const rove = (to, focus) => {
    for (const each of list.querySelectorAll('.rb-row[tabindex="0"]')) each.tabIndex = -1;
    if (!to) return;
    to.tabIndex = 0;
    if (focus) to.focus();
  };
  list.addEventListener("focusin", (event) => event.target.classList.contains("rb-row") && rove(event.target, false));
  list.addEventListener("keydown", (event) => {
    const all = buttons();
    const at = all.indexOf(event.target);
    if (event.key === "Escape" && model.get("opened")) {
      rows.get(model.get("opened"))?.button.focus();
      tell(model, { name: "open", key: model.get("opened") });
    } else if (at >= 0) {
      const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      rove(all[Math.min(all.length - 1, Math.max(0, to))], true);
    }
  });

  let open = "";
  // By the person, in this view: nothing else may move the page.
  let pressed = false;
  const drawOpen = () => {
    const was = rows.get(open);
    const now = rows.get(model.get("opened"));
    const moved = was !== now;
    const asked = moved && pressed;
    if (moved) pressed = false;
    open = now ? model.get("opened") : "";
    if (was) drawRow(was);
    box.hidden = !now;
    if (!now) return;
    drawRow(now);
    if (box.parentElement !== now.item) now.item.append(box);
    if (asked) bringIntoView(box);
  };

  /** @param {Rows} message */
  const take = (message) => {
    const since = performance.now();
    const told = head.states;
    for (const name of HEAD) if (name in message) head[name] = message[name];
    if (message.wait) wait = { line: message.wait, since };
    if (message.requests) requests = { line: message.requests, since };
    for (const change of message.rows ?? []) {
      if (!rows.has(change.key)) rows.set(change.key, build(change.key));
      const shown = rows.get(change.key);
      shown.row = { ...shown.row, ...change };
      if ("time" in change) shown.since = since;
      if ("order" in change) place(shown);
      drawRow(shown);
    }
    for (const [name, [title, sum]] of Object.entries(message.groups ?? {})) {
      setText(group(name).title, title);
      setText(group(name).sum, sum);
    }
    placeGroups();
    if (!list.querySelector('.rb-row[tabindex="0"]')) rove(buttons()[0], false);
    drawOpen();
    setText(count, head.count ?? "");
    setText(states, head.states ?? "");
    setText(money, head.money ?? "");
    showText(note, head.note);
    setText(empty, head.empty ?? "");
    nothing.hidden = !head.empty;
    showText(create, head.create);
    tick();
    if (told !== undefined && head.states !== told) frame.say(head.states);
  };
  frame.listen("msg:custom", (message) => message.name === "rows" && take(message));
  frame.draw(["opened", "face"], drawOpen);
}, "The kernel doesn't answer. The jobs go on; run the cell again to watch them.");
