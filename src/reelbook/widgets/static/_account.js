// What the panels of keys and of a class have in common: fields, a key's state, the question before keys are revoked.
import { filledButton, freshId, h, plainButton, setText } from "./_dom.js";
import { fieldProblem } from "./_problem.js";

/** An input that neither the browser nor its spelling checker helps with. */
export const input = (type, more) => h("input", { type, autocomplete: "off", spellcheck: "false", ...more });

/** A field under its label, and what is wrong with it. @param {string} [hint] beside the label */
export function labelled(control, label, hint) {
  control.id = freshId("field");
  const problem = fieldProblem(control);
  const words = hint ? [label, " ", h("small", {}, hint)] : [label];
  const node = h("div", {}, h("label", { class: "rb-label", for: control.id }, ...words), control, problem.node);
  return { node, show: problem.show };
}

/** The cell that says whether a key works. @param {string} state */
export function stateCell(state) {
  return h("td", {}, h("span", { class: `rb-state rb-is-${state.replaceAll(" ", "-")}` }, state));
}

/**
 * The question before keys are revoked; Escape, and the button called `keeps`, leave them as they are.
 * @param {() => void} act revokes them
 * @param {() => HTMLElement} back what the focus goes to afterwards
 * @param {HTMLElement[]} instead what may be done in place of it
 * @returns {{node: HTMLElement, revoke: HTMLButtonElement, ask: (text?: string) => void}}
 *   `ask` shows the question, or hides it without a text
 */
export function revokeQuestion(frame, keeps, act, back, ...instead) {
  const text = h("p", { id: freshId("asked") });
  const leave = plainButton(keeps, () => ask());
  const revoke = filledButton("Revoke", () => {
    ask();
    act();
  });
  const onkeydown = (event) => event.key === "Escape" && leave.click();
  const grouped = { role: "group", "aria-labelledby": text.id, hidden: true, onkeydown };
  const node = h("div", { class: "rb-sheet rb-ask", ...grouped },
    text, h("div", { class: "rb-acts" }, ...instead, leave, revoke));
  const ask = (question = "") => {
    const [opens, closes] = [node.hidden && question, !node.hidden && !question];
    node.hidden = !question;
    setText(text, question);
    if (opens) {
      leave.focus();
      frame.say(question);
    }
    if (closes) back().focus();
  };
  return { node, revoke, ask };
}
