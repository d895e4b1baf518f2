// A cell of a matrix: what it shows doesn't depend on where it stands, so it is made once and moved.
import { CODE_KINDS } from "./_code.js";
import {
  drawProgress, filledButton, h, isNew, plainButton, progressBar, refill, setText, starButton, tickButton,
} from "./_dom.js";

/**
 * As reelbook.text.matrix composes them.
 * @typedef {{n: number, at: number[], prompt: Array<[string, boolean]>}} Place
 * @typedef {{word: string, tone: string, bar: number | null, note: string, money: string, about: string,
 *   clip: number, seconds: number, fps: number, acts: Array<[string, string]>, picked: boolean,
 *   remark: string, id: string, line: any[]}} Face
 * @typedef {Place & {now: Face, heard: number, timed: null | import("./_clock.js").Timed, failed: string,
 *   node: HTMLElement, parts: Record<string, HTMLElement>}} Cell `heard`: when its news came
 */

// Of a cell's face, what the kernel needn't send; all else comes in the message that names the cell.
const EMPTY = { bar: null, seconds: 0, acts: [], line: [], remark: "" };

/** What leads on from a cell. `choose(choice, title)`: "vary" or a kind of code; the title says that it was copied. */
export function cellMenu(choose) {
  const option = ([value, word]) => h("option", { value }, word);
  const title = option(["", "Menu ▾"]);
  const onchange = ({ target }) => {
    choose(target.value, title);
    target.value = "";
  };
  return h("select", { class: "rb-more", "aria-label": "Menu", onchange }, title, option(["vary", "Vary"]),
    h("optgroup", { label: "Copy as code" }, ...Object.entries(CODE_KINDS).map(option)));
}

/** @param {Place} place @returns {Cell} */
export function matrixCell(place, { choose, act, menu }) {
  const one = { ...place, now: EMPTY, heard: 0, timed: null, failed: "" };
  const parts = {
    img: h("img", { alt: "", hidden: true }),
    word: h("span", { class: "rb-chip" }),
    line: h("span", { class: "rb-quiet" }),
    bar: progressBar(),
    note: h("span", { class: "rb-why" }),
    acts: h("span"),
    tick: tickButton((event) => choose(one.n, event.shiftKey)),
    star: starButton(() => act(one.n, "pick")),
    more: cellMenu((...choice) => menu(one.n, ...choice)),
  };
  parts.state = h("div", { class: "rb-state" }, parts.word, parts.bar, parts.line, parts.note, parts.acts);
  const { img, state, tick, star, more } = parts;
  one.node = h("div", { class: "rb-cell", "data-n": one.n }, img, state, tick, star, more);
  one.parts = parts;
  return one;
}

/** Draws what is known of a cell by now. @param {Cell} one */
export function drawMatrixCell(one, pictures, drawActs, varies) {
  const { now, parts, node } = one;
  const told = one.failed || (now.clip ? "" : now.word);
  setText(parts.word, told);
  parts.word.className = `rb-chip rb-${one.failed ? "fail" : now.tone}`;
  parts.state.hidden = !told;
  drawProgress(parts.bar, now.bar);
  setText(parts.note, now.note);
  parts.note.title = now.note;
  const next = now.acts.find(([name]) => name === "find_out" || name === "again");
  drawActs(parts.acts, one, next ? [next] : []);
  node.classList.toggle("rb-blank", !now.clip);
  node.classList.toggle("rb-out", now.word === "Left out");
  node.classList.toggle("rb-picked", now.picked);
  parts.more.tabIndex = -1;
  parts.more.options[1].hidden = !varies;
  parts.more.hidden = parts.star.hidden = parts.tick.hidden = !now.clip;
  parts.star.setAttribute("aria-pressed", String(now.picked));
  if (now.clip) pictures.show(parts.img, String(one.n));
}

/** Draws the buttons of a cell into a box, anew only where they changed; `act(n, name)` is what one does. */
export const actButtons = (act) => (box, one, list) => {
  if (!isNew(box, [one.n, list])) return;
  const button = ([name, text]) => {
    const made = name === "find_out" ? filledButton : plainButton;
    return made(text, () => act(one.n, name), { "data-act": name });
  };
  refill(box, list.map(button), one.node.parentElement);
};
