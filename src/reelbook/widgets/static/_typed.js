// What is typed into a form's fields, on its way to the model.

/**
 * Typed values wait outside the model: the echo of an earlier value would undo one set there and not yet sent.
 *
 * @returns `set(name, value, soon)` sends a value, with `soon` once nothing more was typed for a moment; `flush` sends
 *   what waits, and `waits(name)` gives it; `unsaved()`: whether anything does
 */
export function typedValues(frame, model) {
  let saving = 0;
  const typed = new Map();
  const flush = () => {
    clearTimeout(saving);
    saving = 0;
    for (const [name, value] of typed) model.set(name, value);
    typed.clear();
    try { model.save_changes(); } catch { /* without a kernel the page keeps it */ }
  };
  const set = (name, value, soon) => {
    typed.set(name, value);
    clearTimeout(saving);
    if (soon) saving = setTimeout(flush, 300);
    else flush();
  };
  frame.onClose(() => saving && flush());
  // Whoever leaves a field may run a cell next, which needs what was typed.
  frame.root.addEventListener("change", () => saving && flush());
  return { set, flush, waits: (name) => typed.get(name), unsaved: () => Boolean(saving) };
}
