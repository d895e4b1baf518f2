// Text for the clipboard: "Copy as code" is the same request for a cell, as a script or for a shell.
import { ask, foldButton, h, plainButton, setText } from "./_dom.js";

export const CODE_KINDS = { cell: "For a cell", script: "As a script", curl: "As curl" };
const COPIED = "Copied";

/** Copies, and says so on the button. Where the page isn't allowed to, it shows the text to be copied by hand. */
export async function copyText(frame, text, button) {
  try {
    await navigator.clipboard.writeText(text);
    const label = button.textContent;
    frame.say("Copied.");
    if (label === COPIED) return; // pressed twice
    setText(button, COPIED);
    setTimeout(() => setText(button, label), 1500);
  } catch { frame.showMessage({ text, tone: "info" }); }
}

/** Copies the code of that kind, which the kernel writes; `about` goes with the question. */
export async function copyCode(frame, model, kind, button, about) {
  const answer = await ask(frame, model, { name: "code", kind, ...about });
  if (answer?.text) copyText(frame, answer.text, button);
}

/**
 * A button, and what it opens: a button for each kind of code, which the kernel writes when it is asked.
 * @param {string[]} kinds those that are offered
 * @param {() => object} [about] what goes with the question
 * @returns {{opener: HTMLElement, choices: HTMLElement}}
 */
export function codeCopies(frame, model, kinds, about = () => ({})) {
  const copy = (kind, { currentTarget }) => copyCode(frame, model, kind, currentTarget, about());
  const button = (kind) => plainButton(CODE_KINDS[kind], (event) => copy(kind, event));
  const choices = h("div", { class: "rb-acts rb-copies", hidden: true }, ...kinds.map(button));
  return { opener: foldButton("Copy as code", choices), choices };
}
