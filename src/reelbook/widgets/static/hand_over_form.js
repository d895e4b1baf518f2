// Which clips are handed over, as what and with what; afterwards what was saved, and the file itself.
import { filledButton, focusedNode, freshId, h, isNew, plainButton, refill, setText, tell } from "./_dom.js";
import { copyText } from "./_code.js";
import { downloadButton } from "./_download.js";
import { panel } from "./_live.js";
import { keepTrait } from "./_controls.js";

/**
 * @typedef {{offers: string[], title: string, never: string, button: string, busy: boolean}} Face
 * @typedef {{file: string, path: string, rows: Array<[string, string]>}} Saved
 */
const WITH = { prompts: "prompts", seeds: "seeds", notes: "notes and votes" };
const KINDS = { ".html": "One page", ".zip": "Zip" };
const ABOUT = { ".html": "opens from disk, without a network", ".zip": "the page, and the clips as MP4" };

export default panel("hand_over_form", "Hand over", (frame, model) => {
  const set = (name, value) => keepTrait(model, name, value);
  const from = focusedNode();
  const close = () => {
    tell(model, { name: "close" });
    if (frame.root.contains(focusedNode())) from.focus();
  };
  const group = (label, ...parts) => h("fieldset", {}, h("legend", {}, label), ...parts);

  const which = h("div");
  const kinds = Object.entries(KINDS).map(([kind, label]) => plainButton(label, () => set("kind", kind)));
  const about = h("span", { class: "rb-quiet" });
  const boxes = Object.keys(WITH).map((name) => h("input", { type: "checkbox", id: freshId(name) }));
  const checks = boxes.map((box, at) => h("label", { for: box.id }, box, Object.values(WITH)[at]));
  const title = h("input", { type: "text", id: freshId("title"), autocomplete: "off", maxlength: 200 });
  const never = h("div", { class: "rb-note" });
  const save = filledButton("", () => {
    const [prompts, seeds, notes] = boxes.map((box) => box.checked);
    tell(model, { name: "save", title: title.value, prompts, seeds, notes });
  });
  const form = h("div", { class: "rb-hand" }, h("b", {}, "Hand over"), group("Clips", which),
    group("As", h("span", { class: "rb-seg", role: "group", "aria-label": "As" }, ...kinds), about),
    group("With", ...checks), h("label", { class: "rb-title", for: title.id }, "Title"), title, never,
    h("div", { class: "rb-acts rb-ends" }, plainButton("Cancel", close), save));

  const file = h("span", { class: "rb-quiet" });
  const rows = h("div", { class: "rb-sums" });
  const copy = plainButton("Copy path", () => copyText(frame, model.get("result").path, copy));
  const saved = h("div", { class: "rb-hand" }, h("div", { class: "rb-head" }, h("b", {}, "Saved"), file), rows,
    h("div", { class: "rb-acts" }, downloadButton(frame, model), copy, plainButton("Done", close)));
  frame.body.append(form, saved);

  frame.draw(["face", "which"], () => {
    /** @type {Face} */
    const face = model.get("face");
    const name = freshId("which");
    if (isNew(which, [face.offers, model.get("which")])) {
      refill(which, face.offers.map((label, at) => {
        const chosen = at === model.get("which");
        const radio = h("input", { type: "radio", name, checked: chosen, onchange: () => set("which", at) });
        return h("label", {}, radio, label);
      }));
    }
    title.placeholder = face.title;
    setText(never, face.never);
    setText(save, face.busy ? "Saving…" : face.button);
    save.disabled = face.busy;
  });
  frame.draw(["kind"], () => {
    const kind = model.get("kind");
    kinds.forEach((made, at) => made.setAttribute("aria-pressed", String(Object.keys(KINDS)[at] === kind)));
    setText(about, ABOUT[kind]);
  });
  frame.draw(Object.keys(WITH), () => boxes.forEach((box, at) => { box.checked = model.get(Object.keys(WITH)[at]); }));
  frame.draw(["title"], () => { if (focusedNode() !== title) title.value = model.get("title"); });
  frame.onClose(() => set("title", title.value)); // the next view goes on with what was typed
  frame.draw(["result"], () => {
    /** @type {Saved} */
    const result = model.get("result");
    form.hidden = Boolean(result.file);
    saved.hidden = !result.file;
    if (!result.file) return;
    setText(file, result.file);
    rows.replaceChildren(...result.rows.map(([what, much]) => h("p", {}, h("span", {}, what), h("span", {}, much))));
    frame.say(`Saved ${result.file}.`);
    saved.querySelector("button:not([hidden])")?.focus();
  });
  frame.root.addEventListener("keydown", (event) => { if (event.key === "Escape") close(); });
  // Opened by a press in another panel: it comes into view, and the keyboard goes on in it.
  if (from.closest(".rb")) {
    requestAnimationFrame(() => {
      form.scrollIntoView({ block: "nearest" });
      which.querySelector("input")?.focus();
    });
  }
});
