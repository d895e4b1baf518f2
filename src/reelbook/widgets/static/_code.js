// "Copy as code": the same request for a cell, as a script or for a shell. The kernel writes it when it is asked.
import { freshId, h, tell } from "./_dom.js";
import { copyText } from "./_copy.js";

const CODE_KINDS = { cell: "For a cell", script: "As a script", curl: "As curl" };

/**
 * @param {string[]} kinds those that are offered
 * @param {() => object} [about] what goes with the question
 * @returns {{opener: HTMLElement, choices: HTMLElement, copy: (kind: string, button: HTMLElement, about: object) => void}}
 *   a button, and what it opens
 */
export function codeCopies(frame, model, kinds, about = () => ({})) {
  let asked = {};
  const copy = (kind, button, more) => {
    asked = { id: freshId("code"), button };
    tell(model, { name: "code", id: asked.id, kind, ...more });
  };
  frame.listen("msg:custom", ({ name, id, text }) => { if (name === "code" && id === asked.id) copyText(frame, text, asked.button); });
  const choices = h("div", { class: "rb-acts rb-copies", hidden: true }, ...kinds.map((kind) => {
    const button = h("button", { type: "button", class: "rb-plain", onclick: () => copy(kind, button, about()) }, CODE_KINDS[kind]);
    return button;
  }));
  return { opener: foldButton("Copy as code", choices), choices, copy };
}

/** A button that shows a part of the page, and hides it again. */
export function foldButton(label, part) {
  const made = h("button", { type: "button", class: "rb-plain", "aria-expanded": "false", onclick: () => {
    part.hidden = !part.hidden;
    made.setAttribute("aria-expanded", String(!part.hidden));
  } }, label);
  return made;
}
