// What is typed into fields, on its way to the model.
import { focusedNode } from "./_dom.js";

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

/**
 * Saves a field soon after it is left, and a while after the last letter, for the thing that it was typed for. Not at
 * once: the answer may move the page, and a press that began where the field was left would end on something else.
 *
 * @param {() => any} which the thing that is shown
 * @param {(which: any, value: string) => void} save
 * @returns {(value: string, changed: boolean) => void} shows a value, unless the person is typing another one;
 *   `changed`: another thing is shown now
 */
export function savedField(frame, field, which, save) {
  let timer = 0;
  let typedFor;
  const flush = () => {
    clearTimeout(timer);
    if (timer) save(typedFor, field.value);
    timer = 0;
  };
  const soon = (wait) => {
    clearTimeout(timer);
    timer = setTimeout(flush, wait);
  };
  field.addEventListener("input", () => {
    typedFor = which();
    soon(1500);
  });
  field.addEventListener("change", () => timer && soon(300));
  frame.onClose(flush);
  return (value, changed) => {
    if (changed) flush();
    if (!timer && (changed || focusedNode() !== field)) field.value = value;
  };
}

let former = null; // the view that was opened last

/**
 * What is typed and hasn't reached the model survives when the notebook replaces a view by a new one. It is kept in the
 * page's memory only, for seconds after the view is closed.
 * @template T
 * @param {() => T} read
 * @param {(typed: T) => void} write
 */
export function keepTyping(frame, read, write) {
  if (former && !former.root.isConnected) write(former.read());
  const own = { root: frame.root, read };
  former = own;
  frame.onClose(() => {
    const typed = read();
    own.read = () => typed;
    setTimeout(() => { if (former === own) former = null; }, 5000);
  });
}
