// A tool's form (reelbook.widgets.schema_form): a field for each flat argument, a JSON editor for everything else.
import { freshId, h, setText } from "./_dom.js";

const MOST_BYTES = 6e6;
const MOST_SHOWN = 5000; // a file's base64 is held and not shown

/**
 * Draws a form with its drafts.
 * @param {any[]} told the fields, as Form.described() tells them
 * @param {Record<string, string | boolean>} drafts
 * @param {() => void} changed is called when somebody types
 * @returns {{node: HTMLElement, get: () => any, show: (problems: Record<string, string>) => HTMLElement | undefined}}
 */
export function drawForm(told, drafts, changed) {
  const held = new Map(Object.entries(drafts)); // an argument may be called "constructor"
  const fields = told.map((field) => drawField(field, held.get(field.name) ?? "", changed));
  const none = fields.length ? [] : [h("p", { class: "rb-quiet" }, "It takes no arguments.")];
  return {
    node: h("div", { class: "rb-fields" }, ...fields.map((each) => each.node), ...none),
    get: () => Object.fromEntries(fields.map((each) => [each.name, each.get()])),
    /** Shows what is wrong; gives the first control that has to be looked at. */
    show(problems) {
      const wrong = new Map(Object.entries(problems));
      return fields.filter((each) => each.say(wrong.get(each.name) || ""))[0]?.control;
    },
  };
}

function drawField(told, draft, changed) {
  const problem = h("div", { class: "rb-problem", id: freshId("problem"), hidden: true });
  const say = (words) => {
    setText(problem, words);
    problem.hidden = !words;
    if (words) { control.setAttribute("aria-invalid", "true"); control.setAttribute("aria-describedby", problem.id); }
    else for (const name of ["aria-invalid", "aria-describedby"]) control.removeAttribute(name);
    return Boolean(words);
  };
  const typed = () => { say(""); changed(); };
  const { control, get, extra = [] } = (DRAW[told.kind] || drawText)(told, draft, typed);
  control.id = freshId("field");
  const called = told.name && told.label.toLowerCase().replaceAll(" ", "_") !== told.name.toLowerCase() ? [h("code", {}, told.name)] : [];
  const small = [told.rule, told.required || !told.name ? "" : "optional"].filter(Boolean).join(" · ");
  const label = h("div", { class: "rb-label" }, h("label", { for: control.id }, told.label), ...called, ...(small ? [h("small", {}, small)] : []));
  const shape = told.shape ? [h("details", { class: "rb-shape" }, h("summary", {}, "What it takes"), h("pre", { class: "rb-said", tabindex: 0 }, told.shape))] : [];
  const help = told.help ? [h("div", { class: "rb-hint rb-said" }, told.help)] : [];
  const inside = told.kind === "switch" ? [h("div", { class: "rb-check" }, control, label)] : [label, control];
  return { name: told.name, node: h("div", { class: "rb-field" }, ...inside, ...extra, problem, ...help, ...shape), control, get, say };
}

function drawText(told, draft, typed) {
  const control = h("textarea", { rows: 1, spellcheck: "false", class: { list: "rb-tall", json: "rb-tall rb-json" }[told.kind] ?? null });
  control.value = draft;
  control.addEventListener("input", typed);
  return { control, get: () => control.value };
}

const drawLine = (attributes) => (told, draft, typed) => {
  const control = h("input", { type: "text", class: "rb-short", autocomplete: "off", oninput: typed, ...attributes });
  control.value = draft;
  return { control, get: () => control.value };
};

function drawDate(told, draft, typed) {
  return drawLine({ type: /^(\d{4}-\d\d-\d\d)?$/.test(draft) ? "date" : "text" })(told, draft, typed);
}

function drawFile(told, draft, typed) {
  let value = draft;
  const control = h("input", { type: "text", autocomplete: "off", placeholder: "Base64, or a file" });
  control.value = value.length > MOST_SHOWN ? "" : value;
  const words = h("span", { class: "rb-quiet" }, value.length > MOST_SHOWN ? "A file is held." : "");
  control.addEventListener("input", () => { value = control.value; setText(words, ""); typed(); });
  const pick = h("input", { type: "file", class: "rb-hidden", tabindex: -1, "aria-hidden": "true" });
  pick.addEventListener("change", () => {
    const file = pick.files[0];
    if (!file) return;
    if (file.size > MOST_BYTES) { setText(words, "A file of at most 6 MB fits in a message."); return; }
    const reader = new FileReader();
    reader.onload = () => { value = String(reader.result).split(",", 2)[1] || ""; control.value = ""; setText(words, file.name); typed(); };
    reader.readAsDataURL(file);
  });
  const choose = h("button", { type: "button", class: "rb-plain", onclick: () => pick.click(), "aria-label": `Choose a file for ${told.label}` }, "Choose a file");
  return { control, get: () => value, extra: [h("div", { class: "rb-acts" }, choose, pick, words)] };
}

function drawChoice(told, draft, typed) {
  const control = h("select", { onchange: typed }, h("option", { value: "" }, told.required ? "Choose" : "Not set"),
    ...told.labels.map((text, place) => h("option", { value: String(place) }, text)));
  control.value = draft;
  return { control, get: () => control.value };
}

function drawSwitch(_, draft, typed) {
  const control = h("input", { type: "checkbox", onchange: typed });
  control.checked = draft === true;
  return { control, get: () => control.checked };
}

const DRAW = {
  choice: drawChoice, switch: drawSwitch, date: drawDate, file: drawFile,
  integer: drawLine({ inputmode: "numeric" }), number: drawLine({ inputmode: "decimal" }),
};
