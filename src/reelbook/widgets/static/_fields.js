// A tool's form (reelbook.widgets.schema): a field for each flat argument, or the editor of all of it as JSON.
import { freshId, h, setText } from "./_dom.js";

const MOST_BYTES = 6e6;
const MOST_SHOWN = 5000; // a file's base64 is held and not shown

/**
 * Draws a form with its draft.
 * @param {{fields: any[], only_json: boolean, shape: string}} told the form, as Form.described() tells it
 * @param {{fields?: Record<string, string | boolean>, json?: string}} draft
 * @param {() => void} changed is called when somebody types
 * @returns {{node: HTMLElement, get: () => any, show: (problems: Record<string, string>) => HTMLElement | undefined}}
 */
export function drawForm(told, draft, changed) {
  const whole = { name: "", kind: "json", label: "Arguments", rule: "JSON", required: true, shape: told.shape };
  const asJson = told.only_json || typeof draft.json === "string";
  const fields = asJson ? [drawField(whole, draft.json, changed)] : told.fields.map((field) => drawField(field, draft.fields[field.name], changed));
  const get = () => (asJson ? { json: fields[0].get() } : { fields: Object.fromEntries(fields.map((each) => [each.name, each.get()])) });
  // Problems at their fields; in the editor, and for what has no field, all of them in one place.
  const show = (problems) => {
    const own = fields.filter((each) => each.say(asJson ? Object.entries(problems).map(([name, text]) => (name ? `${name}: ${text}` : text)).join("\n") : problems[each.name] || ""));
    return own.length ? own[0].control : undefined;
  };
  const none = asJson || fields.length ? [] : [h("p", { class: "rb-quiet" }, "It takes no arguments.")];
  return { node: h("div", { class: "rb-fields" }, ...fields.map((each) => each.node), ...none), get, show };
}

function drawField(told, draft, changed) {
  const id = freshId("field");
  const text = typeof draft === "string" ? draft : "";
  const { control, get, extra = [] } = (DRAW[told.kind] || drawText)(told, told.kind === "switch" ? draft === true : text, changed);
  control.id = id;
  const problem = h("div", { class: "rb-problem", id: freshId("problem"), hidden: true });
  const called = told.name && told.label.toLowerCase().replaceAll(" ", "_") !== told.name.toLowerCase() ? [h("code", {}, told.name)] : [];
  const small = [told.rule, told.required ? "" : "optional"].filter(Boolean).join(" · ");
  const label = h("div", { class: "rb-label" }, h("label", { for: id }, told.label), ...called, ...(small ? [h("small", {}, small)] : []));
  const shape = told.shape ? [h("details", { class: "rb-shape" }, h("summary", {}, "What it takes"), h("pre", { class: "rb-said" }, told.shape))] : [];
  const help = told.help ? [h("div", { class: "rb-hint rb-said" }, told.help)] : [];
  const inside = told.kind === "switch" ? [h("div", { class: "rb-check" }, control, label)] : [label, control];
  const say = (words) => {
    setText(problem, words);
    problem.hidden = !words;
    if (words) { control.setAttribute("aria-invalid", "true"); control.setAttribute("aria-describedby", problem.id); }
    else for (const name of ["aria-invalid", "aria-describedby"]) control.removeAttribute(name);
    return Boolean(words);
  };
  return { name: told.name, node: h("div", { class: "rb-field" }, ...inside, ...extra, problem, ...help, ...shape), control, get, say };
}

function drawText(told, draft, changed) {
  let value = draft;
  const number = told.kind === "number" || told.kind === "integer";
  const date = told.kind === "date" && /^(\d{4}-\d\d-\d\d)?$/.test(value);
  const hidden = told.kind === "password";
  const many = ["lines", "list", "json"].includes(told.kind) || (value.includes("\n") && !hidden);
  const control = many
    ? h("textarea", { rows: Math.min(16, Math.max(3, value.split("\n").length)), spellcheck: "false", class: told.kind === "json" ? "rb-json" : null })
    : h("input", { type: hidden ? "password" : date ? "date" : "text", autocomplete: hidden ? "new-password" : "off", spellcheck: "false",
      inputmode: number ? (told.kind === "integer" ? "numeric" : "decimal") : null });
  control.value = told.kind === "file" && value.length > MOST_SHOWN ? "" : value;
  if (number || date) control.classList.add("rb-short");
  // What a control shows may be less than what it was given: only typing changes the value.
  control.addEventListener("input", () => { value = control.value; changed(); });
  if (told.kind !== "file") return { control, get: () => value };
  const words = h("span", { class: "rb-quiet" }, value.length > MOST_SHOWN ? "A file is held." : "");
  const pick = h("input", { type: "file", class: "rb-hidden", tabindex: -1, "aria-hidden": "true" });
  pick.addEventListener("change", () => {
    const file = pick.files[0];
    if (!file) return;
    if (file.size > MOST_BYTES) { setText(words, "A file of at most 6 MB fits in a message."); return; }
    const reader = new FileReader();
    reader.onload = () => { value = String(reader.result).split(",", 2)[1] || ""; control.value = ""; setText(words, file.name); changed(); };
    reader.readAsDataURL(file);
  });
  control.addEventListener("input", () => setText(words, ""));
  const choose = h("button", { type: "button", class: "rb-plain", onclick: () => pick.click(), "aria-label": `Choose a file for ${told.label}` }, "Choose a file");
  return { control, get: () => value, extra: [h("div", { class: "rb-acts" }, choose, pick, words)] };
}

function drawChoice(told, draft, changed) {
  const control = h("select", { onchange: changed }, h("option", { value: "" }, told.required ? "Choose" : "Not set"),
    ...told.labels.map((text, place) => h("option", { value: String(place) }, text)));
  control.value = draft;
  return { control, get: () => control.value };
}

function drawSwitch(_, draft, changed) {
  const control = h("input", { type: "checkbox", onchange: changed });
  control.checked = draft;
  return { control, get: () => control.checked };
}

const DRAW = { choice: drawChoice, switch: drawSwitch };
