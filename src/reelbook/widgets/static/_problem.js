// What is wrong with a field, said beside it.
import { freshId, h, showText } from "./_dom.js";

/**
 * The place for what is wrong with a field; `show("")` takes it back.
 * @param {HTMLElement} [control] the field, for screen readers
 */
export function fieldProblem(control) {
  const node = h("div", { class: "rb-problem", id: freshId("problem"), role: "alert", hidden: true });
  const show = (text) => {
    showText(node, text);
    if (!control) return;
    control.setAttribute("aria-invalid", String(Boolean(text)));
    if (text) control.setAttribute("aria-describedby", node.id);
    else control.removeAttribute("aria-describedby");
  };
  return { node, show };
}
