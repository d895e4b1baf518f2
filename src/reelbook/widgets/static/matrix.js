// The matrix: the clips of a sweep in rows, columns and pages, on one clock. Where a cell stands is decided in the page
// (_matrix_table.js): swapping axes asks nobody. What is here joins its parts: head, selection, keys and the kernel's
// news.
import { ask, filledButton, foldButton, h, plainButton, setText, showText, tell } from "./_dom.js";
import { askingButtons } from "./_asking.js";
import { tellWhenLeft } from "./_left.js";
import { countingLines, lineText, panel } from "./_live.js";
import { clipKeys } from "./_controls.js";
import { copyCode } from "./_code.js";
import { clockDeck } from "./_deck.js";
import { offerDownload } from "./_download.js";
import { posters } from "./_posters.js";
import { matrixAbout } from "./_matrix_about.js";
import { actButtons, drawMatrixCell, matrixCell } from "./_matrix_cell.js";
import { matrixClips } from "./_matrix_clips.js";
import { matrixTable } from "./_matrix_table.js";

/**
 * What the kernel tells: a sweep with all its cells, then the cells that changed.
 * @typedef {{said: string, left: import("./_live.js").Line, controls: Array<[string, string, string?]>,
 *   problem: string}} Head
 * @typedef {{n: number} & Partial<import("./_matrix_cell.js").Face>} News
 * @typedef {{axes: Array<[string, string[]]>, places: import("./_matrix_cell.js").Place[], keys: string,
 *   most_compared: number, head?: Head, cells: News[]}} Told
 */

export default panel("matrix", "Matrix", (frame, model) => {
  // What is set here counts until the kernel has it: set as a trait, the echo of an earlier value could undo it.
  let own = {};
  let sends = 0;
  const get = (name) => (name in own ? own[name] : model.get(name));
  const set = async (values) => {
    Object.assign(own, values);
    sends += 1;
    const mine = sends;
    const answer = await ask(frame, model, { name: "set", values });
    if (!answer || mine !== sends) return;
    own = {};
    arranged();
  };
  const pictures = posters(frame, model);
  const cells = new Map(); // by number
  const opened = () => get("opened");
  let current = opened();
  let over = 0;

  // The parts
  const wrap = h("div", { class: "rb-matrix" });
  const act = (n, name) => {
    const own = { open, close }[name];
    if (own) own(n);
    else tell(model, { name, key: n, picked: !cells.get(n).now.picked });
  };
  // What leads on from a cell, beside it: the same stands under the table, which may be out of sight.
  const menu = (n, choice, title) => {
    if (choice === "vary") act(n, choice);
    else copyCode(frame, model, choice, title, { key: n });
  };
  const drawActs = actButtons(act);
  const drawCell = (one) => {
    drawMatrixCell(one, pictures, drawActs, offers("vary"));
    drawChosen(one);
  };
  const grid = matrixTable(frame, cells, { get, set, onBuilt: (here, had) => {
    // What isn't in the table any more is out of view: an observer tells that, but late.
    for (const one of cells.values()) if (!one.node.isConnected) clips.leave(one);
    if (!here.some((one) => one.n === current)) current = here.length ? here[0].n : 0;
    for (const one of here) drawChosen(one);
    if (current) focusOn(current, had);
    drawAbout();
    setLength();
  } });
  const { table } = grid;
  const clips = matrixClips(frame, model, wrap, cells, { clock: () => deck.clock, draw: drawCell });
  const about = matrixAbout(frame, model, { drawActs, blobOf: clips.blobOf, menu, close: () => close() });
  const deck = clockDeck(frame, model, {
    clips: clips.timed,
    onTime: (at) => { if (at) wrap.classList.add("rb-moved"); },
    fps: () => Math.max(24, ...clips.timed().map((one) => one.fps)),
    words: (part) => get("by") === "part" && `${Math.round(part * 100)} %`,
  });

  // The head
  const title = h("span");
  const left = h("span");
  const controls = h("span", { class: "rb-acts" });
  const tally = h("span", { class: "rb-tally" }, title, left, frame.badge, controls);
  const head = h("div", { class: "rb-head" }, grid.bars, tally);
  const drawLeft = countingLines(frame, left);
  const note = h("div", { class: "rb-note", hidden: true });
  const nothing = h("p", { class: "rb-quiet rb-nothing" }, "Looking for the cells.");

  // The clock's line, and what is done with the whole
  const by = [["time", "Seconds"], ["part", "Part"]].map(([name, label]) => plainButton(label, () => {
    set({ by: name });
    drawBy();
  }, { "data-by": name }));
  by[1].title = "Clips of different length begin and end together";
  const compare = plainButton("Compare", () => tell(model, { name: "compare" }));
  const judge = plainButton("Judge", () => tell(model, { name: "judge" }));
  const none = plainButton("Deselect", () => select([]));
  const help = h("p", { class: "rb-quiet rb-foot", hidden: true });
  const saves = [["mp4", "As a video"], ["png", "As a sheet"], ["html", "As a page"]]
    .map(([kind, label]) => plainButton(label, () => tell(model, { name: "save", kind })));
  const asCode = plainButton("As code", (event) => copyCode(frame, model, "cell", event.currentTarget));
  const kinds = h("div", { class: "rb-acts rb-foot", hidden: true }, ...saves, asCode);
  const showHelp = foldButton("Shortcuts", help);
  const group = (label, parts) => h("span", { class: "rb-group", role: "group", "aria-label": label }, ...parts);
  const bar = h("div", { class: "rb-deck" }, ...deck.parts, group("Go by", by),
    compare, judge, none, foldButton("Save…", kinds), showHelp);
  wrap.append(head, note, frame.message, nothing,
    h("div", { class: "rb-scroll" }, table), about.node, bar, kinds, help);
  frame.body.append(wrap);
  const setLength = () => {
    const lengths = [...cells.values()].map((one) => one.now.seconds);
    deck.clock.setLength(Math.max(0, ...lengths));
    deck.play.disabled = !lengths.some(Boolean);
    deck.draw();
  };

  // The cell that is looked at
  const offers = (name) => get("offers").includes(name);
  const drawAbout = () => {
    const one = cells.get(opened() || over || current);
    about.draw(one, Boolean(opened()), offers("vary"));
    for (const td of table.querySelectorAll("[aria-current]")) td.removeAttribute("aria-current");
    one?.node.parentElement?.setAttribute("aria-current", "true");
  };
  const open = (n) => {
    focusOn(n);
    if (!cells.get(n).now.clip) return;
    set({ opened: n });
    drawAbout();
    about.node.scrollIntoView({ block: "nearest", behavior: "instant" });
  };
  const close = () => {
    set({ opened: 0 });
    drawAbout();
    focusOn(current);
  };
  const focusOn = (n, move = true) => {
    for (const td of table.querySelectorAll('td[tabindex="0"]')) td.tabIndex = -1;
    current = n;
    over = 0;
    const td = cells.get(n)?.node.parentElement;
    if (!td) return;
    td.tabIndex = 0;
    if (move) {
      td.focus();
      td.scrollIntoView({ block: "nearest" }); // clear of the labels, which stay in view
    }
    drawAbout();
  };

  // Selection and marks
  const selected = () => get("selected");
  const numbers = (nodes = table.querySelectorAll(".rb-cell")) => [...nodes].map((node) => Number(node.dataset.n));
  const drawChosen = (one) => {
    const is = selected().includes(one.n);
    one.node.classList.toggle("rb-chosen", is);
    one.parts.tick.setAttribute("aria-checked", String(is));
    const td = one.node.parentElement;
    if (!td) return;
    td.setAttribute("aria-selected", String(is));
    const { word, note, picked } = one.now;
    const said = [grid.placeOf(one), word, note, picked && "picked"];
    td.setAttribute("aria-label", said.filter(Boolean).join(". "));
  };
  const select = (several) => {
    set({ selected: [...new Set(several)] });
    drawSelected();
  };
  let anchor = 0;
  let mostCompared = 0;
  const choose = (n, range) => {
    const order = numbers();
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
    compare.hidden = number < 2 || number > mostCompared || !offers("compare");
    setText(compare, `Compare ${number} selected`);
    judge.hidden = !offers("judge");
    setText(judge, number > 1 ? `Judge ${number} selected` : "Judge");
    none.hidden = !number;
    setText(none, `Deselect ${number}`);
  };

  // Pointer and keys
  const look = (n) => {
    if (n === over) return;
    over = n;
    drawAbout();
  };
  const numberAt = (target) => Number(target.closest("td")?.querySelector(".rb-cell")?.dataset.n) || 0;
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
      if (opened()) set({ opened: n });
      focusOn(n);
      return;
    }
  };
  table.addEventListener("focusin", ({ target }) => {
    const n = numberAt(target);
    if (n && n !== current) focusOn(n, false);
  });
  table.addEventListener("click", (event) => {
    const n = numberAt(event.target);
    if (!n || event.target.closest("button, select")) return;
    if (event.shiftKey || event.ctrlKey || event.metaKey) {
      focusOn(n);
      choose(n, event.shiftKey);
    } else open(n);
  });
  table.addEventListener("pointerover", ({ target }) => look(numberAt(target)));
  table.addEventListener("pointerleave", () => look(0));
  const onCells = (call) => (event) => {
    if (table.contains(event.target) && !event.target.closest("button, select")) call();
  };
  const onClip = (call) => onCells(() => cells.get(current)?.now.clip && call(current));
  clipKeys(wrap, {
    ...deck.keys,
    x: onCells(() => choose(current, false)),
    p: onClip((n) => act(n, "pick")),
    t: grid.transpose,
    PageUp: () => grid.leaf(-1),
    PageDown: () => grid.leaf(1),
    "?": () => showHelp.click(),
    Escape() {
      if (!help.hidden) showHelp.click();
      else if (opened()) close();
      else if (selected().length) select([]);
    },
  });
  table.addEventListener("keydown", (event) => {
    if (event.target.closest("button, select") || event.altKey) return;
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const ctrl = event.ctrlKey || event.metaKey;
    if (Object.hasOwn(ways, event.key) && !ctrl) move(event, ...ways[event.key]);
    else if (event.key === "Enter" && !ctrl) open(current);
    else if (event.key === "a" && ctrl) select(numbers(table.querySelectorAll(".rb-cell:not(.rb-blank)")));
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  // What the kernel tells
  const hears = {
    /** @param {Told} content */
    sweep(content) {
      clips.clear();
      for (const one of cells.values()) pictures.forget(one.parts.img);
      cells.clear();
      for (const place of content.places) {
        const one = matrixCell(place, { choose, act, menu });
        cells.set(one.n, one);
        clips.watch(one);
      }
      setText(help, content.keys);
      mostCompared = content.most_compared;
      table.style.setProperty("--rb-shape", get("shape"));
      nothing.hidden = true;
      grid.take(content.axes);
      hears.cells(content); // in one: a key pressed before a cell is known would be lost
    },
    cells(content) {
      if (content.head) Object.assign(shown, content.head);
      for (const { n, ...news } of content.cells) {
        const one = cells.get(n);
        if (!one) continue;
        one.now = { ...one.now, ...news };
        one.heard = performance.now();
        clips.changed(one);
        drawCell(one);
      }
      drawHead();
      grid.drawTallies();
      drawAbout();
      setLength();
      tick();
      clips.load();
    },
  };
  const shown = { left: [] }; // of the head; the rest comes with the first cells
  let here = "";
  const drawHead = () => {
    setText(title, shown.said);
    drawLeft(shown.left.length ? [shown.left] : []);
    showText(note, shown.problem);
    const off = (name) => name === "buy" && Boolean(shown.problem);
    // One that is off asks for the balance at once. In the list, `off` draws it anew when it is on again.
    const buttons = shown.controls.map(([name, text, answer]) => [name, text, !off(name) && answer, off(name)]);
    askingButtons(controls, buttons, (name, text, act, place) => {
      const made = !place && name !== "pause" ? filledButton : plainButton;
      return made(text, act, { "data-act": name, "aria-disabled": String(off(name)) });
    }, (name, answer) => tell(model, { name, answer }), table.querySelector('td[tabindex="0"]'));
    if (shown.said !== here) frame.say(here = shown.said);
  };
  const tick = () => {
    const now = performance.now();
    for (const one of cells.values()) {
      if (!one.now.clip) setText(one.parts.line, lineText(one.now.line, (now - one.heard) / 1000));
    }
  };
  frame.every(500, tick);
  frame.listen("msg:custom", (content) => hears[content.name]?.(content));

  // Traits, as Python sets them
  const drawBy = () => {
    for (const made of by) made.setAttribute("aria-pressed", String(get("by") === made.dataset.by));
    deck.clock.setByPart(get("by") === "part");
    deck.draw();
  };
  const arranged = () => {
    if (cells.size && grid.isOld()) grid.build();
    drawSelected();
    drawBy();
    drawAbout();
  };
  frame.listen("change:opened", () => {
    if (opened()) current = opened();
  });
  frame.draw(["rows", "columns", "page", "selected", "offers", "by", "opened"], arranged);
  frame.listen("change:playing", () => {
    if (!get("playing")) return;
    wrap.classList.add("rb-moved");
    clips.gather();
  });
  deck.follow();
  offerDownload(frame, model);
  tellWhenLeft(frame, model);
});
