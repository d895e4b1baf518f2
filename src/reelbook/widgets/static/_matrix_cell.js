// A cell of a matrix: what it shows doesn't depend on where it stands, so it is made once and moved.
import {
  drawProgress, filledButton, h, isNew, plainButton, progressBar, refill, setText, starButton, tickButton,
} from "./_dom.js";

/**
 * As reelbook.text.matrix composes them.
 * @typedef {{n: number, at: number[], prompt: Array<[string, boolean]>}} Place
 * @typedef {{word: string, tone: string, bar: number | null, note: string, money: string, about: string,
 *   clip: number, seconds: number, fps: number, acts: Array<[string, string]>, star: boolean, pick: boolean,
 *   remark: string, id: string, line: any[]}} Face
 * @typedef {Place & {now: Face, heard: number, timed: null | import("./_clock.js").Timed, failed: string,
 *   node: HTMLElement, parts: Record<string, HTMLElement>}} Cell `heard`: when its news came
 */

const EMPTY = {
  word: "", tone: "wait", bar: null, note: "", money: "", about: "", clip: 0, seconds: 0, fps: 24, acts: [],
  star: false, pick: false, remark: "", id: "", line: [],
};

/** @param {Place} place @returns {Cell} */
export function matrixCell(place, { choose, star }) {
  const one = { ...place, now: EMPTY, heard: 0, timed: null, failed: "" };
  const parts = {
    img: h("img", { alt: "", hidden: true }),
    word: h("span", { class: "rb-chip" }),
    line: h("span", { class: "rb-quiet" }),
    bar: progressBar(),
    note: h("span", { class: "rb-why" }),
    acts: h("span"),
    tick: tickButton((event) => choose(one.n, event.shiftKey)),
    star: starButton(() => star(one.n)),
    won: h("span", { class: "rb-won" }, "Kept"),
  };
  parts.state = h("div", { class: "rb-state" }, parts.word, parts.bar, parts.line, parts.note, parts.acts);
  one.node = h("div", { class: "rb-cell", "data-n": one.n }, parts.img, parts.state, parts.tick, parts.star, parts.won);
  one.parts = parts;
  return one;
}

/** Draws what is known of a cell by now. @param {Cell} one */
export function drawMatrixCell(one, pictures, drawActs) {
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
  parts.won.hidden = !now.pick;
  node.classList.toggle("rb-blank", !now.clip);
  node.classList.toggle("rb-out", now.word === "Left out");
  node.classList.toggle("rb-starred", now.star);
  parts.star.hidden = parts.tick.hidden = !now.clip;
  parts.star.setAttribute("aria-pressed", String(now.star));
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
