// The matrix: the clips of a sweep in rows, columns and pages, on one clock. Where a cell stands is decided here: swapping
// axes asks nobody. Only cells in view have a video; what was fetched stays for a while, so that it isn't fetched twice.
import { codeCopies } from "./_code.js";
import { freshId, h, openPanel, setText, tell } from "./_dom.js";
import { tellWhenLeft } from "./_left.js";
import { countingLines, keepAsking, lineText } from "./_live.js";
import { clockDeck, deckKeys } from "./_deck.js";
import { clipPlayer } from "./_media.js";
import { fetchClip, hold, letGo } from "./_fetch.js";
import { posters } from "./_posters.js";

const FETCHED_AT_ONCE = 3; // clips fetched
const KEPT_BYTES = 40e6; // of clips that aren't in view
const ZOOMS = [1, 1.5, 2, 3, 4];

/**
 * @typedef {{n: number, at: number[], prompt: Array<[string, boolean]>, about: string}} Place as in reelbook.text.matrix
 * @typedef {{word: string, tone: string, bar: number | null, note: string, money: string, clip: number, seconds: number,
 *   fps: number, acts: Array<[string, string]>, star: boolean, pick: boolean, remark: string, id: string, line: any[]}} Face
 */

const EMPTY = { word: "", tone: "wait", bar: null, note: "", money: "", clip: 0, seconds: 0, fps: 24, acts: [], star: false, pick: false, remark: "", id: "", line: [] };

const button = (label, act, more = {}) => h("button", { type: "button", class: "rb-plain", onclick: act, ...more }, label);
const marked = (runs) => runs.map(([text, differs]) => differs ? h("mark", {}, text) : text);
/** Every choice of one index each, the last axis changing first. @param {number[]} lengths */
const choices = (lengths) => lengths.reduce((made, length) => made.flatMap((one) => Array.from({ length }, (_, place) => [...one, place])), [[]]);

function render({ model, el }) {
  const frame = openPanel(model, el, "matrix", "Matrix");
  // What is set here counts until the kernel has it: set as a trait, the echo of an earlier value could undo it.
  const view = freshId("view");
  let own = {};
  let sends = 0;
  const get = (name) => (name in own ? own[name] : model.get(name));
  const set = (values) => {
    Object.assign(own, values);
    sends += 1;
    tell(model, { name: "set", id: `${view} ${sends}`, values });
  };
  const pictures = posters(frame, model);
  /** @type {Array<[string, string[]]>} */
  let axes = [];
  const cells = new Map(); // by number
  let byPlace = new Map();
  let current = 0;
  let over = 0;
  let opened = 0;

  // Who stands where. Axes with one value stand nowhere.
  const axis = (name) => axes.findIndex(([one]) => one === name);
  const many = () => axes.filter(([, labels]) => labels.length > 1).map(([name]) => name);
  const zones = () => {
    const known = many();
    const rows = get("rows").filter((name) => known.includes(name));
    const columns = get("columns").filter((name) => known.includes(name) && !rows.includes(name));
    return { rows, columns, pages: known.filter((name) => !rows.includes(name) && !columns.includes(name)) };
  };
  const pageOf = (name) => Math.max(0, axes[axis(name)][1].indexOf(get("page")[name]));
  const label = (name, index) => axes[axis(name)][1][index];

  // The head
  const title = h("span");
  const left = h("span");
  const bars = h("span", { class: "rb-axes", role: "group", "aria-label": "Axes" });
  const badge = h("span", { class: "rb-badge" });
  const controls = h("span", { class: "rb-acts" });
  const head = h("div", { class: "rb-head" }, bars, h("span", { class: "rb-tally" }, title, left, badge, controls));
  const drawLeft = countingLines(frame, left);
  const note = h("div", { class: "rb-note", hidden: true });

  // The table
  const table = h("table", { role: "grid", "aria-label": "Clips", "aria-multiselectable": "true" });
  const scroller = h("div", { class: "rb-scroll" }, table);
  const nothing = h("p", { class: "rb-quiet rb-nothing" }, "Looking for the cells.");

  // What is known of one cell, under the table
  const stage = h("div", { class: "rb-stage", hidden: true });
  const prompt = h("p", { class: "rb-prompt" });
  const facts = h("span");
  const counts = h("span");
  const money = h("span", { class: "rb-money" });
  const why = h("div", { class: "rb-note", hidden: true });
  const acts = h("div", { class: "rb-acts" });
  const code = codeCopies(frame, model, ["cell", "script", "curl"], () => ({ n: opened || current }));
  const remark = h("input", { type: "text", id: freshId("note"), maxlength: 5000, autocomplete: "off" });
  const remarkRow = h("div", { class: "rb-remark" }, h("label", { for: remark.id }, "Note"), remark);
  const about = h("div", { class: "rb-about" }, stage, h("div", { class: "rb-words" }, prompt, h("div", { class: "rb-meta" }, facts, counts, money), why, h("div", { class: "rb-acts" }, acts, code.opener), code.choices, remarkRow));
  const drawCounts = countingLines(frame, counts);

  // The clock
  const timed = () => [...visible].filter((one) => one.timed?.video.readyState).map((one) => one.timed);
  const deck = clockDeck(frame, model, {
    clips: timed,
    onTime: (at) => { if (at) wrap.classList.add("rb-moved"); },
    fps: () => Math.max(24, ...timed().map((one) => one.fps)),
    words: (at, length) => get("by") === "part" ? `${Math.round((at / length) * 100)} %` : `${at.toFixed(1)} of ${length.toFixed(1)} s`,
  });
  const { clock } = deck;
  const by = ["time", "part"].map((name) => button(name === "time" ? "Seconds" : "Part", () => { set({ by: name }); drawBy(); }));
  by[1].title = "Clips of different length begin and end together";
  const zoomed = [button("−", () => zoom(-1), { "aria-label": "Zoom out", title: "Zoom out (-)" }), button("+", () => zoom(1), { "aria-label": "Zoom in", title: "Zoom in (+)" })];
  const compare = button("Compare", () => tell(model, { name: "compare" }));
  const none = button("Deselect", () => select([]));
  const fold = (name, part) => {
    const made = button(name, () => {
      part.hidden = !part.hidden;
      made.setAttribute("aria-expanded", String(!part.hidden));
    }, { "aria-expanded": "false" });
    return made;
  };
  const help = h("p", { class: "rb-quiet rb-foot", hidden: true });
  const kinds = h("div", { class: "rb-acts rb-foot", hidden: true }, ...[["mp4", "As a video"], ["png", "As a sheet"], ["html", "As a page"]].map(([kind, label]) => button(label, () => tell(model, { name: "save", kind }))), button("As code", (event) => code.copy("cell", event.target, {})));
  const showHelp = fold("Keys", help);
  const bar = h("div", { class: "rb-deck" }, ...deck.parts, h("span", { class: "rb-group", role: "group", "aria-label": "Go by" }, ...by),
    h("span", { class: "rb-group", role: "group", "aria-label": "Zoom" }, ...zoomed), compare, none, fold("Save…", kinds), showHelp);
  const wrap = h("div", { class: "rb-matrix" }, head, note, nothing, scroller, about, bar, kinds, help);
  frame.body.append(wrap);

  // A cell: what it shows doesn't depend on where it stands, so it is made once and moved.
  const make = (place) => {
    const one = { ...place, now: EMPTY, heard: 0, timed: null, failed: "" };
    const parts = {
      img: h("img", { alt: "", hidden: true }), word: h("span", { class: "rb-chip" }), line: h("span", { class: "rb-quiet" }),
      bar: h("span", { class: "rb-bar", role: "progressbar", "aria-label": "Progress", "aria-valuemin": 0, "aria-valuemax": 100 }, h("i")),
      note: h("span", { class: "rb-why" }), acts: h("span"),
      tick: h("button", { type: "button", class: "rb-tick", role: "checkbox", tabindex: -1, "aria-label": "Select", onclick: (event) => choose(one.n, event.shiftKey) }),
      star: h("button", { type: "button", class: "rb-star", tabindex: -1, "aria-label": "Star", onclick: () => mark(one.n, { starred: !one.now.star }) }),
      won: h("span", { class: "rb-won" }, "Kept"),
    };
    one.state = h("div", { class: "rb-state" }, parts.word, parts.bar, parts.line, parts.note, parts.acts);
    one.node = h("div", { class: "rb-cell", "data-n": place.n }, parts.img, one.state, parts.tick, parts.star, parts.won);
    one.parts = parts;
    near.observe(one.node);
    return one;
  };
  const drawActs = (box, one, list) => {
    const said = JSON.stringify([one.n, list]);
    if (box.dataset.acts === said) return;
    const focused = box.contains(document.activeElement);
    box.dataset.acts = said;
    box.replaceChildren(...list.map(([name, text]) => button(text, () => act(one.n, name), { class: name === "find_out" ? "rb-primary" : "rb-plain", "data-act": name })));
    if (focused) (box.firstElementChild || one.node.parentElement)?.focus();
  };
  const act = (n, name) => {
    if (name === "open") open(n);
    else if (name === "close") close();
    else if (name === "star") mark(n, { starred: !cells.get(n).now.star });
    else if (name === "pick") pick(n);
    else tell(model, { name, n });
  };
  const drawCell = (one) => {
    const { now, parts } = one;
    const told = one.failed || (now.clip ? "" : now.word);
    setText(parts.word, told);
    parts.word.className = `rb-chip rb-${one.failed ? "fail" : now.tone}`;
    one.state.hidden = !told;
    parts.bar.hidden = now.bar === null;
    parts.bar.classList.toggle("rb-open", now.bar < 0);
    parts.bar.firstElementChild.style.width = now.bar > 0 ? `${now.bar * 100}%` : "0";
    if (now.bar !== null && now.bar >= 0) parts.bar.setAttribute("aria-valuenow", Math.round(now.bar * 100));
    setText(parts.note, now.note);
    parts.note.title = now.note;
    drawActs(parts.acts, one, now.acts.filter(([name]) => name === "find_out" || name === "again").slice(0, 1));
    parts.won.hidden = !now.pick;
    one.node.classList.toggle("rb-blank", !now.clip);
    one.node.classList.toggle("rb-out", now.word === "Left out");
    one.node.classList.toggle("rb-starred", now.star);
    parts.star.hidden = parts.tick.hidden = !now.clip;
    parts.star.setAttribute("aria-pressed", String(now.star));
    if (now.clip) pictures.show(parts.img, String(one.n));
    drawChosen(one);
  };
  const drawChosen = (one) => {
    const is = selected().includes(one.n);
    one.node.classList.toggle("rb-chosen", is);
    one.parts.tick.setAttribute("aria-checked", String(is));
    const td = one.node.parentElement;
    if (!td) return;
    td.setAttribute("aria-selected", String(is));
    td.setAttribute("aria-label", [axes.filter(([, labels]) => labels.length > 1).map(([name, labels]) => `${name} ${labels[one.at[axis(name)]]}`).join(", "), one.now.word, one.now.note, one.now.star && "starred", one.now.pick && "picked"].filter(Boolean).join(". "));
  };

  // The table is built anew whenever an axis moves; the cells are only moved.
  let rowHeads = [];
  let columnHeads = [];
  const build = () => {
    const zone = zones();
    const ways = Object.fromEntries(Object.entries(zone).map(([name, names]) => [name, choices(names.map((each) => axes[axis(each)][1].length))]));
    const words = (names, way) => names.map((name, place) => label(name, way[place])).join(" · ");
    const find = (row, column) => byPlace.get(axes.map(([name, labels]) => {
      if (labels.length < 2) return 0;
      const [a, b] = [zone.rows.indexOf(name), zone.columns.indexOf(name)];
      return a >= 0 ? row[a] : b >= 0 ? column[b] : pageOf(name);
    }).join());
    const had = table.contains(document.activeElement);
    columnHeads = [];
    rowHeads = [];
    const heading = (scope, names, way, list, members) => {
      const node = h("th", { scope, hidden: !names.length }, h("span", {}, words(names, way)), h("small", { class: "rb-quiet" }));
      list.push({ node, members });
      return node;
    };
    const grid = ways.rows.map((row) => ways.columns.map((column) => find(row, column)));
    const top = h("tr", {}, h("td", { class: "rb-side", hidden: !zone.rows.length }), ...ways.columns.map((column, place) => heading("col", zone.columns, column, columnHeads, grid.map((line) => line[place]))));
    const lines = ways.rows.map((row, place) => h("tr", {}, heading("row", zone.rows, row, rowHeads, grid[place]), ...grid[place].map((one) =>
      one ? h("td", { tabindex: -1 }, one.node) : h("td", { class: "rb-hole", "aria-label": "Not in this sweep" }))));
    for (const line of lines) line.firstElementChild.classList.add("rb-side");
    top.hidden = !zone.columns.length;
    table.replaceChildren(h("thead", {}, top), h("tbody", {}, ...lines));
    table.style.setProperty("--rb-columns", ways.columns.length);
    // What isn't in the table any more is out of view: an observer tells that, but late.
    for (const one of cells.values()) if (!one.node.isConnected) leave(one);
    const here = grid.flat().filter(Boolean);
    if (!here.some((one) => one.n === current)) current = here.length ? here[0].n : 0;
    for (const one of here) drawChosen(one);
    if (current) focusOn(current, had);
    drawBars(zone);
    drawTallies();
    drawAbout();
    setLength();
    laid = laidOut();
  };
  const drawTallies = () => {
    const all = [...cells.values()];
    const any = (name) => all.some((one) => one.now[name]);
    const said = (members) => {
      const done = members.filter((one) => one?.now.clip);
      const share = (name) => done.filter((one) => one.now[name]).length;
      return [any("star") && `★ ${share("star")} of ${done.length} · ${done.length ? Math.round((share("star") / done.length) * 100) : 0} %`, any("pick") && `kept ${share("pick")}`].filter(Boolean).join(" · ");
    };
    for (const { node, members } of [...rowHeads, ...columnHeads]) setText(node.lastElementChild, said(members));
  };
  const setLength = () => {
    const lengths = [...cells.values()].map((one) => one.now.seconds);
    deck.setLength(Math.max(0, ...lengths));
    deck.play.disabled = !lengths.some(Boolean);
    deck.draw();
  };

  // The axes, to be dragged or chosen
  const NAMES = { rows: "Rows", columns: "Columns", pages: "Pages" };
  const put = (name, to, swap) => {
    const zone = zones();
    const from = Object.keys(zone).find((each) => zone[each].includes(name));
    const at = zone[from].indexOf(name);
    if (swap && swap !== name) {
      const other = Object.keys(zone).find((each) => zone[each].includes(swap));
      const [a, b] = [zone[from].indexOf(name), zone[other].indexOf(swap)];
      zone[from][a] = swap;
      zone[other][b] = name;
    } else if (!swap && to !== from) {
      zone[from].splice(at, 1);
      zone[to].push(name);
    }
    arrange(zone.rows, zone.columns);
  };
  const arrange = (rows, columns) => {
    set({ rows, columns });
    build();
    frame.say(`Rows: ${rows.join(", ") || "none"}. Columns: ${columns.join(", ") || "none"}.`);
  };
  const transpose = () => { const { rows, columns } = zones(); arrange(columns, rows); };
  let dragged = "";
  const drawBars = (zone) => {
    const focused = bars.contains(document.activeElement) && document.activeElement.dataset.focus;
    const chip = (name, where) => {
      const others = many().filter((each) => each !== name);
      const choice = h("select", { "data-focus": name, "aria-label": `${NAMES[where]}: ${name}`, onchange: () => {
        const [what, value] = choice.value.split(":", 2);
        choice.dataset.focus = what === "swap" ? value : name;
        put(name, what === "to" && value, what === "swap" && value);
      } }, h("option", { value: "", selected: true }, name),
        h("optgroup", { label: "Swap with" }, ...others.map((each) => h("option", { value: `swap:${each}` }, each))),
        h("optgroup", { label: `Move ${name} to` }, ...Object.keys(NAMES).filter((each) => each !== where).map((each) => h("option", { value: `to:${each}` }, NAMES[each]))));
      const node = h("span", { class: "rb-axis", draggable: "true", title: "Drag it to other rows, columns or pages" }, h("span", { class: "rb-grip", "aria-hidden": "true" }, "⠿"), choice);
      node.addEventListener("dragstart", (event) => { dragged = name; event.dataTransfer.setData("text/plain", name); event.stopPropagation(); });
      node.addEventListener("dragend", () => { dragged = ""; });
      node.addEventListener("dragover", (event) => { if (dragged && dragged !== name) event.preventDefault(); });
      node.addEventListener("drop", (event) => { if (!dragged || dragged === name) return; event.preventDefault(); event.stopPropagation(); put(dragged, "", name); });
      return node;
    };
    const values = (name) => h("span", { class: "rb-group", role: "group", "aria-label": `Page: ${name}` }, ...axes[axis(name)][1].map((text, place) =>
      button(text, () => turn(name, place), { "data-focus": `${name}:${place}`, "aria-pressed": String(place === pageOf(name)) })));
    const parts = Object.entries(NAMES).map(([where, word]) => {
      const node = h("span", { class: "rb-zone", hidden: where === "pages" && many().length < 3 && !zone.pages.length }, h("span", { class: "rb-quiet" }, word), ...zone[where].flatMap((name) => where === "pages" ? [chip(name, where), values(name)] : [chip(name, where)]));
      node.addEventListener("dragover", (event) => { if (dragged) event.preventDefault(); });
      node.addEventListener("drop", (event) => { if (!dragged) return; event.preventDefault(); put(dragged, where); });
      return node;
    });
    parts.splice(1, 0, button("⇄", transpose, { "aria-label": "Swap rows and columns", title: "Swap rows and columns (t)", "data-focus": "swap" }));
    bars.replaceChildren(...parts);
    bars.hidden = !many().length;
    if (focused) bars.querySelector(`[data-focus="${CSS.escape(focused)}"]`)?.focus();
  };
  const turn = (name, place) => {
    set({ page: { ...get("page"), [name]: label(name, place) } });
    build();
  };
  const leaf = (way) => {
    const [name] = zones().pages;
    if (!name) return;
    const to = pageOf(name) + way;
    if (to >= 0 && to < axes[axis(name)][1].length) turn(name, to);
  };

  // One cell's words, and its clip if it is opened
  let player = null;
  let drawn = 0;
  const drawAbout = () => {
    const one = cells.get(opened || over || current);
    about.hidden = !one;
    if (!one) return;
    const { now } = one;
    prompt.replaceChildren(...marked(one.prompt));
    setText(facts, [one.about, now.clip ? "" : now.word].filter(Boolean).join(" · "));
    drawCounts(now.clip ? [] : [now.line]);
    setText(money, now.money);
    setText(why, now.note);
    why.hidden = !now.note;
    why.className = `rb-note rb-${now.tone}`;
    const marks = now.clip ? [["star", now.star ? "★ Starred" : "☆ Star"], ["pick", now.pick ? "Kept" : "Keep this one"], opened ? ["close", "Close"] : ["open", "Open"], ...(get("offers").includes("vary") ? [["vary", "Vary"]] : [])] : [];
    drawActs(acts, one, [...marks, ...now.acts]);
    remarkRow.hidden = !now.id || !opened;
    drawRemark(one);
    const clip = opened ? now.clip : 0;
    stage.hidden = !clip;
    if (drawn === (clip && one.n)) return;
    drawn = clip && one.n;
    player?.close();
    player = null;
    if (!clip) return;
    stage.style.setProperty("--rb-shape", get("shape"));
    player = clipPlayer(frame, model, stage, { key: String(one.n), fps: () => one.now.fps, codec: () => "", label: () => prompt.textContent, autoplay: () => true, fetch: (frame, model, told) => blobOf(one, told) });
  };
  const open = (n) => {
    focusOn(n);
    if (!cells.get(n).now.clip) return;
    opened = n;
    set({ opened: n });
    drawAbout();
    about.scrollIntoView({ block: "nearest", behavior: "instant" });
  };
  const close = () => {
    opened = 0;
    set({ opened: 0 });
    drawAbout();
    focusOn(current);
  };
  // A note is kept soon after the field is left, and a while after the last letter, for the cell it was typed for.
  let typing = 0;
  let typed = 0;
  const flush = () => {
    clearTimeout(typing);
    if (typing) mark(typed, { note: remark.value });
    typing = 0;
  };
  remark.addEventListener("input", () => { clearTimeout(typing); typed = (opened || current); typing = setTimeout(flush, 1500); });
  remark.addEventListener("change", flush);
  remark.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    close();
  });
  frame.onClose(flush);
  const drawRemark = (one) => {
    if (one.n !== typed) flush();
    if (!typing && (one.n !== typed || document.activeElement !== remark)) remark.value = one.now.remark;
    typed = one.n;
  };

  // Focus, selection, marks
  const focusOn = (n, move = true) => {
    for (const td of table.querySelectorAll('td[tabindex="0"]')) td.tabIndex = -1;
    current = n;
    over = 0;
    const td = cells.get(n)?.node.parentElement;
    if (!td) return;
    td.tabIndex = 0;
    if (move) td.focus();
    drawAbout();
  };
  const selected = () => get("selected");
  const select = (numbers) => {
    set({ selected: [...new Set(numbers)] });
    drawSelected();
  };
  let anchor = 0;
  const choose = (n, range) => {
    const order = [...table.querySelectorAll(".rb-cell")].map((node) => Number(node.dataset.n));
    const had = selected();
    if (range && order.includes(anchor)) {
      const [from, to] = [order.indexOf(anchor), order.indexOf(n)].sort((a, b) => a - b);
      return select([...had, ...order.slice(from, to + 1).filter((each) => cells.get(each).now.clip)]);
    }
    anchor = n;
    if (cells.get(n).now.clip) select(had.includes(n) ? had.filter((each) => each !== n) : [...had, n]);
  };
  const drawSelected = () => {
    for (const one of cells.values()) drawChosen(one);
    const number = selected().length;
    compare.hidden = number < 2 || number > 9 || !get("offers").includes("compare");
    setText(compare, `Compare ${number} selected`);
    none.hidden = !number;
    setText(none, number === 1 ? "Deselect" : `Deselect ${number}`);
  };
  const mark = (n, marks) => tell(model, { name: "mark", n, ...marks });
  const pick = (n) => tell(model, { name: "pick", n, among: [...table.querySelectorAll(".rb-cell")].map((node) => Number(node.dataset.n)) });
  const move = (event, right, down) => {
    const td = table.querySelector('td[tabindex="0"]');
    const line = td?.parentElement;
    if (!line) return;
    const lines = [...line.parentElement.children];
    let [row, column] = [lines.indexOf(line), [...line.children].indexOf(td)];
    for (;;) { // over what isn't in the sweep
      row += down;
      column += right;
      const node = lines[row]?.children[column];
      if (!node || node.tagName !== "TD") return;
      const n = Number(node.firstElementChild?.dataset.n);
      if (!n) continue;
      if (event.shiftKey) {
        if (!selected().includes(current)) choose(current, false);
        choose(n, true);
      }
      if (opened) opened = n;
      focusOn(n);
      return;
    }
  };
  table.addEventListener("focusin", ({ target }) => {
    const n = Number(target.closest("td")?.querySelector(".rb-cell")?.dataset.n);
    if (n && n !== current) focusOn(n, false);
  });
  table.addEventListener("click", (event) => {
    if (event.target.closest("button") || panned) return;
    const n = Number(event.target.closest("td")?.querySelector(".rb-cell")?.dataset.n);
    if (!n) return;
    if (event.shiftKey || event.ctrlKey || event.metaKey) {
      focusOn(n);
      choose(n, event.shiftKey);
    } else open(n);
  });
  table.addEventListener("pointerover", ({ target }) => {
    const n = Number(target.closest("td")?.querySelector(".rb-cell")?.dataset.n) || 0;
    if (n !== over) { over = n; drawAbout(); }
  });
  table.addEventListener("pointerleave", () => { over = 0; drawAbout(); });
  const onCells = (call) => (event) => { if (table.contains(event.target) && !event.target.closest("button")) call(event); };
  const keys = {
    ...deck.keys, x: onCells(() => choose(current, false)), s: onCells(() => cells.get(current)?.now.clip && mark(current, { starred: !cells.get(current).now.star })),
    p: onCells(() => cells.get(current)?.now.clip && pick(current)), t: transpose, PageUp: () => leaf(-1), PageDown: () => leaf(1), "+": () => zoom(1), "-": () => zoom(-1), 0: () => zoom(0),
    "?": () => showHelp.click(), Escape: () => { if (!help.hidden) showHelp.click(); else if (opened) close(); else if (selected().length) select([]); },
  };
  deckKeys(wrap, keys);
  table.addEventListener("keydown", (event) => {
    if (event.target.closest("button") || event.altKey) return;
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const ctrl = event.ctrlKey || event.metaKey;
    if (Object.hasOwn(ways, event.key) && !ctrl) move(event, ...ways[event.key]);
    else if (event.key === "Enter" && !ctrl) open(current);
    else if (event.key === "a" && ctrl) select([...table.querySelectorAll(".rb-cell:not(.rb-blank)")].map((node) => Number(node.dataset.n)));
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  // Zoom and pan, all cells alike
  let panned = false;
  const eye = { zoom: 1, x: 0, y: 0 };
  const look = () => {
    const most = (eye.zoom - 1) / 2 / eye.zoom;
    for (const side of ["x", "y"]) eye[side] = Math.max(-most, Math.min(most, eye[side]));
    table.style.setProperty("--rb-view", `scale(${eye.zoom}) translate(${eye.x * 100}%, ${eye.y * 100}%)`);
    table.classList.toggle("rb-zoomed", eye.zoom > 1);
    zoomed[0].disabled = eye.zoom === 1;
    zoomed[1].disabled = eye.zoom === ZOOMS.at(-1);
  };
  const zoom = (way) => {
    eye.zoom = way ? ZOOMS[Math.max(0, Math.min(ZOOMS.length - 1, ZOOMS.indexOf(eye.zoom) + way))] : 1;
    look();
  };
  table.addEventListener("pointerdown", (event) => {
    panned = false;
    const cell = event.target.closest(".rb-cell");
    if (!cell || eye.zoom === 1 || event.button || event.target.closest("button")) return;
    const { width, height } = cell.getBoundingClientRect();
    let last = event;
    const pan = (now) => {
      if (Math.hypot(now.clientX - event.clientX, now.clientY - event.clientY) > 4) panned = true;
      eye.x += (now.clientX - last.clientX) / width / eye.zoom;
      eye.y += (now.clientY - last.clientY) / height / eye.zoom;
      last = now;
      look();
    };
    const end = () => {
      for (const kind of ["pointerup", "pointercancel"]) window.removeEventListener(kind, end);
      window.removeEventListener("pointermove", pan);
    };
    window.addEventListener("pointermove", pan);
    for (const kind of ["pointerup", "pointercancel"]) window.addEventListener(kind, end);
  });

  // Clips: fetched once somebody turned to the panel, decoded while in view.
  const visible = new Set();
  const blobs = new Map(); // by number, the one used longest ago first
  let awake = false;
  let gathers = false;
  let seen = false;
  let fetching = 0;
  const rest = () => clock.rest(!seen || gathers);
  const blobOf = async (one, told = () => {}) => {
    const had = blobs.get(one.n);
    if (had?.clip === one.now.clip) {
      blobs.delete(one.n);
      blobs.set(one.n, had);
      told(1);
      return had.blob;
    }
    const { clip } = one.now;
    const blob = await fetchClip(frame, model, told, String(one.n));
    blobs.set(one.n, { clip, blob });
    let bytes = 0;
    for (const [n, each] of [...blobs].reverse()) {
      bytes += each.blob.size;
      if (bytes > KEPT_BYTES && !visible.has(cells.get(n))) blobs.delete(n);
    }
    return blob;
  };
  const wanting = () => [...visible].filter((one) => one.now.clip && !one.timed && !one.failed);
  const load = () => {
    if (!awake || !seen) return;
    hold(held);
    for (const one of wanting()) {
      if (fetching >= FETCHED_AT_ONCE) break;
      if (one.fetching) continue;
      one.fetching = true;
      fetching += 1;
      blobOf(one).then((blob) => visible.has(one) && show(one, blob), (error) => { one.failed = error.message; drawCell(one); }).finally(() => {
        one.fetching = false;
        fetching -= 1;
        load();
      });
    }
    if (gathers && !wanting().length && [...visible].every((one) => !one.timed || one.timed.video.readyState > 1)) {
      gathers = false;
      rest();
    }
  };
  const show = (one, blob) => {
    const video = h("video", { playsinline: true, preload: "auto", tabindex: -1, "aria-hidden": "true" });
    video.muted = true;
    video.src = URL.createObjectURL(blob);
    one.timed = { video, seconds: one.now.seconds, fps: one.now.fps, clip: one.now.clip };
    const cannotShow = () => { if (video.src) { one.failed = "This browser can't show the clip's codec."; drawCell(one); load(); } };
    video.addEventListener("error", cannotShow);
    video.addEventListener("loadedmetadata", () => { if (!video.videoWidth) cannotShow(); else if (one.timed) clock.join(one.timed); }, { once: true });
    video.addEventListener("loadeddata", () => { video.className = "rb-ready"; load(); }, { once: true });
    one.parts.img.after(video);
  };
  const leave = (one) => {
    visible.delete(one);
    one.failed = "";
    if (!one.timed) return;
    const { video } = one.timed;
    one.timed = null;
    URL.revokeObjectURL(video.src);
    video.removeAttribute("src");
    video.load(); // or the decoder keeps the clip
    video.remove();
  };
  const near = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const one = cells.get(Number(target.dataset.n));
      if (!one) continue;
      if (isIntersecting) visible.add(one);
      else leave(one);
    }
    load();
  });
  const whole = new IntersectionObserver((entries) => {
    seen = entries[entries.length - 1].isIntersecting;
    rest();
    load();
  });
  const held = { free: () => { if (!seen) { for (const one of cells.values()) leave(one); blobs.clear(); } return !seen; } };
  const wake = () => { if (!awake) { awake = true; load(); } };
  for (const kind of ["pointerenter", "focusin"]) wrap.addEventListener(kind, wake);
  frame.onClose(() => {
    near.disconnect();
    whole.disconnect();
    letGo(held);
    for (const one of cells.values()) leave(one);
  });

  // What the kernel tells
  const hears = {
    sweep(content) {
      const had = [...cells.values()];
      for (const one of had) { leave(one); near.unobserve(one.node); pictures.forget(one.parts.img); }
      cells.clear();
      blobs.clear();
      axes = content.axes;
      byPlace = new Map();
      for (const place of content.places) {
        const one = make(place);
        cells.set(place.n, one);
        byPlace.set(place.at.map((index, at) => axes[at][1].length > 1 ? index : 0).join(), one);
      }
      setText(badge, content.mark);
      badge.hidden = !content.mark;
      setText(help, content.keys);
      table.style.setProperty("--rb-shape", get("shape"));
      nothing.hidden = true;
      build();
    },
    cells(content) {
      if (content.head) Object.assign(shown, content.head);
      for (const { n, ...news } of content.cells || []) {
        const one = cells.get(n);
        if (!one) continue;
        one.now = { ...one.now, ...news };
        one.heard = performance.now();
        if (one.timed && one.timed.clip !== one.now.clip) { const was = visible.has(one); leave(one); if (was) visible.add(one); }
        drawCell(one);
      }
      drawHead();
      drawTallies();
      drawAbout();
      setLength();
      tick();
      load();
    },
  };
  const shown = { said: "", left: [], controls: [], problem: "" };
  let here = "";
  const drawHead = () => {
    setText(title, shown.said);
    drawLeft(shown.left.length ? [shown.left] : []);
    setText(note, shown.problem);
    note.hidden = !shown.problem;
    const said = JSON.stringify(shown.controls);
    if (controls.dataset.drawn !== said) {
      const focused = controls.contains(document.activeElement);
      controls.dataset.drawn = said;
      controls.replaceChildren(...shown.controls.map(([name, text]) => button(text, () => tell(model, { name }), { class: name === "buy" || name === "resume" ? "rb-primary" : "rb-plain", "data-act": name, "aria-disabled": name === "buy" && shown.problem ? "true" : null })));
      if (focused) (controls.firstElementChild || table.querySelector('td[tabindex="0"]'))?.focus();
    }
    if (shown.said !== here) frame.say(here = shown.said);
  };
  const tick = () => {
    const now = performance.now();
    for (const one of cells.values()) if (!one.now.clip) setText(one.parts.line, lineText(one.now.line, (now - one.heard) / 1000));
  };
  const timer = setInterval(tick, 500);
  frame.onClose(() => clearInterval(timer));
  frame.listen("msg:custom", (content) => { if (Object.hasOwn(hears, content.name)) hears[content.name](content); });

  // Traits, as Python sets them
  const laidOut = () => JSON.stringify([get("rows"), get("columns"), get("page")]);
  let laid = "";
  const arranged = () => {
    if (laidOut() !== laid && cells.size) build();
    drawSelected();
    drawBy();
    if (get("opened") !== opened) {
      opened = get("opened");
      if (opened) current = opened;
      drawAbout();
    }
  };
  hears.set = (content) => {
    if (content.id !== `${view} ${sends}`) return;
    own = {};
    arranged();
  };
  const drawBy = () => {
    by.forEach((made, place) => made.setAttribute("aria-pressed", String(get("by") === ["time", "part"][place])));
    clock.setByPart(get("by") === "part");
    deck.draw();
  };
  frame.draw(["rows", "columns", "page", "selected", "offers", "by", "opened"], arranged);
  frame.listen("change:playing", () => {
    if (!get("playing")) return;
    wrap.classList.add("rb-moved");
    awake = true;
    gathers = true;
    rest();
    load();
  });
  look();
  deck.follow();
  near.observe(wrap);
  whole.observe(wrap);
  tellWhenLeft(frame, model);
  keepAsking(frame, model);
  return () => frame.close();
}

export default { render };
