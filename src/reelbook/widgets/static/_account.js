// The fields of the panels that take or make keys.
import { freshId, h } from "./_dom.js";
import { fieldProblem } from "./_problem.js";

/** An input that neither the browser nor its spelling checker helps with. */
export const input = (type, more) => h("input", { type, autocomplete: "off", spellcheck: "false", ...more });

/** A field under its label, and what is wrong with it. */
export function labelled(control, label) {
  control.id = freshId("field");
  const problem = fieldProblem(control);
  const node = h("div", {}, h("label", { class: "rb-label", for: control.id }, label), control, problem.node);
  return { node, show: problem.show };
}
