// A form made of described fields (reelbook.widgets.schema): each is drawn, and gives back its draft.
import { freshId, h, setText } from "./_dom.js";

/**
 * Draws the field `told` (see reelbook.widgets.schema.fields.described) with its draft.
 * @param {any} told @param {any} draft
 * @param {{slots: any[], changed: () => void, blank?: boolean}} form where problems are shown, and who hears of typing
 * @param {() => string} path the field's JSON pointer
 * @param {string} [label] in the place of the field's own
 * @returns {{node: HTMLElement, get: () => any}}
 */
export function drawField(told, draft, form, path, label = told.label || "") {
  const raw = told.kind === "raw" || (draft && typeof draft === "object" && "raw" in draft);
  return (raw ? drawRaw : DRAW[told.kind] || drawRaw)(told, draft, form, path, label);
}

function problemSlot(form, path, control) {
  const node = h("div", { class: "rb-problem", id: freshId("problem"), hidden: true });
  form.slots.push({ path, node, control });
  return node;
}

/** Shows problems at their fields, or at the nearest field around them; gives back the first one's control. */
export function showProblems(form, problems) {
  const said = new Map();
  for (const [pointer, text] of Object.entries(problems)) {
    let at = pointer;
    let slot;
    while (!(slot = form.slots.find((each) => each.node.isConnected && each.path() === at)) && at) at = at.slice(0, at.lastIndexOf("/"));
    if (slot) said.set(slot, [...(said.get(slot) || []), pointer === at ? text : `${pointer.slice(at.length + 1)}: ${text}`]);
  }
  const wrong = [];
  form.slots = form.slots.filter((slot) => slot.node.isConnected);
  for (const slot of form.slots) {
    const text = (said.get(slot) || []).join("\n");
    setText(slot.node, text);
    slot.node.hidden = !text;
    if (!slot.control) continue;
    if (text) {
      slot.control.setAttribute("aria-invalid", "true");
      slot.control.setAttribute("aria-describedby", slot.node.id);
      wrong.push(slot.control);
    } else for (const name of ["aria-invalid", "aria-describedby"]) slot.control.removeAttribute(name);
  }
  return wrong.sort((one, other) => (one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1))[0];
}

function named(told, label, id, ...more) {
  const calls = told.name && label.toLowerCase().replaceAll(" ", "_") !== told.name.toLowerCase() ? [h("code", {}, told.name)] : [];
  const small = [told.rule, told.need ? "" : "optional"].filter(Boolean).join(" · ");
  return h("div", { class: "rb-label" }, id ? h("label", { for: id }, label) : h("span", {}, label), ...calls, ...(small ? [h("small", {}, small)] : []), ...more);
}
const help = (told) => (told.help ? [h("div", { class: "rb-hint rb-said" }, told.help)] : []);

function drawInput(told, draft, form, path, label) {
  const id = freshId("field");
  let value = typeof draft === "string" ? draft : "";
  const lines = told.type === "lines" || value.includes("\n");
  const hidden = told.type === "password" && !lines;
  const date = told.type === "date" && /^(\d{4}-\d\d-\d\d)?$/.test(value);
  const control = lines
    ? h("textarea", { id, rows: Math.min(8, Math.max(3, value.split("\n").length)) })
    : h("input", { id, type: hidden ? "password" : date ? "date" : "text", autocomplete: hidden ? "new-password" : "off", spellcheck: "false",
      inputmode: told.kind === "number" ? (told.whole ? "numeric" : "decimal") : told.type === "email" || told.type === "url" ? told.type : null,
      placeholder: { time: "14:30:00Z", "date-time": "2026-01-31T14:30:00Z", email: "name@example.org", url: "https://" }[told.type] || null });
  const big = value.length > 5000;
  control.value = big ? "" : value;
  if (told.kind === "number" || date) control.classList.add("rb-short");
  // What a control shows may be less than what it was given: only typing changes the value.
  control.addEventListener("input", () => { value = control.value; form.changed(); });
  const extra = [];
  if (told.suggested) {
    const list = h("datalist", { id: freshId("list") }, ...told.suggested.map((text) => h("option", { value: text })));
    if (!lines) { control.setAttribute("list", list.id); extra.push(list); }
  }
  if (told.type === "file" || big) {
    const size = h("span", { class: "rb-quiet" });
    const say = () => setText(size, value.length > 5000 ? `${value.length.toLocaleString("en")} letters held` : "");
    const pick = h("input", { type: "file", class: "rb-hidden", tabindex: -1, "aria-hidden": "true" });
    pick.addEventListener("change", () => {
      const file = pick.files[0];
      if (!file) return;
      if (file.size > 6e6) return setText(size, "A file of at most 6 MB fits in a message.");
      const reader = new FileReader();
      reader.onload = () => { value = String(reader.result).split(",", 2)[1] || ""; control.value = ""; say(); setText(size, `${file.name} · ${size.textContent || "held"}`); form.changed(); };
      reader.readAsDataURL(file);
    });
    control.addEventListener("input", say);
    say();
    if (told.type === "file") extra.push(h("div", { class: "rb-acts" }, h("button", { type: "button", class: "rb-plain", onclick: () => pick.click(), "aria-label": `Choose a file for ${label}` }, "Choose a file"), pick, size));
    else extra.push(size);
  }
  return { node: h("div", { class: "rb-field" }, named(told, label, id), control, ...extra, problemSlot(form, path, control), ...help(told)), get: () => value };
}

function drawChoice(told, draft, form, path, label) {
  const id = freshId("field");
  const control = h("select", { id, onchange: () => form.changed() }, h("option", { value: "" }, told.need ? "Choose" : "Not set"),
    ...(told.labels || []).map((text, place) => h("option", { value: place }, text)));
  control.value = typeof draft === "number" ? String(draft) : "";
  return { node: h("div", { class: "rb-field" }, named(told, label, id), control, problemSlot(form, path, control), ...help(told)), get: () => (control.value === "" ? null : Number(control.value)) };
}

function drawFlag(told, draft, form, path, label) {
  const id = freshId("field");
  const control = h("input", { id, type: "checkbox", onchange: () => form.changed() });
  control.checked = Boolean(draft);
  return { node: h("div", { class: "rb-field" }, h("div", { class: "rb-check" }, control, named(told, label, id)), problemSlot(form, path, control), ...help(told)), get: () => control.checked };
}

function drawRaw(told, draft, form, path, label) {
  const id = freshId("field");
  const control = h("textarea", { id, class: "rb-json", spellcheck: "false", rows: 3 });
  let text = draft && typeof draft.raw === "string" ? draft.raw : "";
  control.value = text;
  control.rows = Math.min(16, Math.max(3, text.split("\n").length));
  control.addEventListener("input", () => { text = control.value; form.changed(); });
  return { node: h("div", { class: "rb-field" }, named({ ...told, rule: "JSON" }, label || "Arguments", id), control, problemSlot(form, path, control),
    ...(told.why ? [h("div", { class: "rb-hint" }, told.why)] : []), ...help(told)), get: () => ({ raw: text }) };
}

const within = (told, label, ...inside) => {
  const rule = [told.rule, told.need ? "" : told.null ? "optional, may be null" : "optional"].filter(Boolean).join(" · ");
  return h("fieldset", { class: "rb-group" }, h("legend", { class: told.bare ? "rb-hidden" : null }, label || "\u2026", ...(rule ? [" ", h("small", {}, rule)] : [])), ...help(told), ...inside);
};
const small = (text, about, act) => h("button", { type: "button", class: "rb-plain rb-small", "aria-label": about, onclick: act }, text);

/** A part that may be there or not: Add puts it there, Remove takes it away. */
function optional(told, label, form, path, draft, inside) {
  const box = h("div", { class: "rb-group-in" });
  let inner = null;
  const add = small("Add", `Add ${label}`, () => { put(told.start); form.changed(); (box.querySelector("input, select, textarea, button") || remove).focus(); });
  const remove = small("Remove", `Remove ${label}`, () => { put(null); form.changed(); add.focus(); });
  const put = (now) => {
    inner = now === null || now === undefined ? null : inside(now);
    box.replaceChildren(...(inner ? [inner.node] : []));
    add.hidden = Boolean(inner);
    remove.hidden = !inner;
  };
  put(draft);
  return { node: within(told, label, h("div", { class: "rb-acts" }, add, remove), box, problemSlot(form, path)), get: () => (inner ? inner.get() : null) };
}

function drawGroup(told, draft, form, path, label) {
  const fields = (now) => {
    const drawn = (told.fields || []).map((field) =>
      [field.name, drawField(field, now.in[field.name] ?? null, form, () => `${path()}/${field.name.replaceAll("~", "~0").replaceAll("/", "~1")}`)]);
    return { node: h("div", { class: "rb-fields" }, ...drawn.map(([, each]) => each.node)), get: () => ({ in: Object.fromEntries(drawn.map(([name, each]) => [name, each.get()])) }) };
  };
  if ("start" in told) return optional(told, label, form, path, draft, fields);
  const inner = fields(draft && draft.in ? draft : { in: {} });
  if (form.blank) return { ...inner, node: h("div", { class: "rb-field" }, inner.node, problemSlot(form, path)) };
  return { node: within(told, label, inner.node, problemSlot(form, path)), get: inner.get };
}

function drawItems(told, draft, form, path, label) {
  const list = h("div", { class: "rb-items" });
  let items = [];
  const add = small("Add one", `Add one to ${label}`, () => { push(told.start ?? null); form.changed(); items[items.length - 1].box.querySelector("input, select, textarea, button").focus(); });
  const push = (now) => {
    const one = {};
    const number = h("span", { class: "rb-quiet" });
    one.drawn = drawField(told.item, now, form, () => `${path()}/${items.indexOf(one)}`, told.item.label || label);
    const remove = small("Remove", `Remove from ${label}`, () => { items = items.filter((each) => each !== one); one.box.remove(); count(); form.changed(); add.focus(); });
    one.box = h("div", { class: `rb-item${told.item.label ? "" : " rb-bare"}`, role: "group" }, number, one.drawn.node, remove);
    one.number = number;
    items.push(one);
    list.append(one.box);
    count();
  };
  const count = () => {
    items.forEach((one, place) => { setText(one.number, `${place + 1}`); one.box.setAttribute("aria-label", `${label} ${place + 1}`); });
    add.disabled = told.most !== undefined && items.length >= told.most;
  };
  for (const each of Array.isArray(draft) ? draft : []) push(each);
  count();
  return { node: within(told, label, list, h("div", { class: "rb-acts" }, add), problemSlot(form, path)), get: () => items.map((one) => one.drawn.get()) };
}

function drawVariants(told, draft, form, path, label) {
  const id = freshId("field");
  const options = told.options || [];
  const control = h("select", { id }, ...(told.need && !told.null && draft ? [] : [h("option", { value: "" }, told.need ? (told.null ? "null" : "Choose") : "Not set")]),
    ...options.map((option, place) => h("option", { value: place }, option.label || `Variant ${place + 1}`)));
  const box = h("div", { class: "rb-group-in" });
  let inner = null;
  const put = (place, now) => {
    inner = place === "" ? null : drawField({ ...options[place], bare: true }, now, form, path);
    box.replaceChildren(...(inner ? [inner.node] : []));
  };
  const known = draft && options[draft.v] ? draft : null;
  control.value = known ? String(known.v) : "";
  control.addEventListener("change", () => { put(control.value, control.value === "" ? null : (told.starts || [])[control.value] ?? null); form.changed(); });
  put(control.value, known ? known.d ?? null : null);
  return { node: h("div", { class: "rb-field" }, named(told, label, id), control, box, problemSlot(form, path, control), ...help(told)), get: () => (inner ? { v: Number(control.value), d: inner.get() } : null) };
}

const DRAW = { text: drawInput, number: drawInput, choice: drawChoice, flag: drawFlag, group: drawGroup, items: drawItems, variants: drawVariants, fixed: () => ({ node: h("span", { hidden: true }), get: () => null }) };
