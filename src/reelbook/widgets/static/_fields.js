// A tool's form (reelbook.widgets.schema_form): a field for each flat argument, a JSON editor for everything else.
import { freshId, h, plainButton, setText } from "./_dom.js";
import { fieldProblem } from "./_problem.js";

const MOST_SHOWN = 5000; // a file's base64 is held and not shown

/**
 * A field as Form.described() tells it.
 * @typedef {{name: string, label: string, help: string, rule: string, required: boolean, labels: string[],
 *   shape: string, most_bytes: number,
 *   kind: "text" | "list" | "json" | "choice" | "switch" | "date" | "file" | "integer" | "number"}} Field
 *   `labels`: the choices; `shape`: what an argument without a field of its own takes; `most_bytes`: of a file
 */

/**
 * Draws a form with its drafts.
 * @param {Field[]} told
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
  const typed = () => {
    problem.show("");
    changed();
  };
  const { control, get, extra = [] } = (DRAW[told.kind] || drawText)(told, draft, typed);
  control.id = freshId("field");
  const problem = fieldProblem(control);
  const say = (words) => {
    problem.show(words);
    return Boolean(words);
  };
  const where = h("label", { for: control.id }, told.label);
  const differs = told.name && told.label.toLowerCase().replaceAll(" ", "_") !== told.name.toLowerCase();
  const called = differs ? [h("code", {}, told.name)] : [];
  const small = [told.rule, told.required || !told.name ? "" : "optional"].filter(Boolean).join(" · ");
  const label = h("div", { class: "rb-label" }, where, ...called, ...(small ? [h("small", {}, small)] : []));
  const pre = h("pre", { class: "rb-said", tabindex: 0 }, told.shape);
  const shape = told.shape ? [h("details", { class: "rb-shape" }, h("summary", {}, "What it takes"), pre)] : [];
  const help = told.help ? [h("div", { class: "rb-hint rb-said" }, told.help)] : [];
  const inside = told.kind === "switch" ? [h("div", { class: "rb-check" }, control, label)] : [label, control];
  const node = h("div", { class: "rb-field" }, ...inside, ...extra, problem.node, ...help, ...shape);
  return { name: told.name, node, control, get, say };
}

function drawText(told, draft, typed) {
  const looks = { list: "rb-tall", json: "rb-tall rb-json" }[told.kind] ?? null;
  const control = h("textarea", { rows: 1, spellcheck: "false", class: looks });
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
  const take = (taken, shown, words) => {
    value = taken;
    control.value = shown;
    setText(said, words);
    typed();
  };
  const control = h("input", { type: "text", autocomplete: "off", placeholder: "Base64, or a file" });
  control.value = value.length > MOST_SHOWN ? "" : value;
  const said = h("span", { class: "rb-quiet" }, value.length > MOST_SHOWN ? "A file is held." : "");
  control.addEventListener("input", () => take(control.value, control.value, ""));
  const pick = h("input", { type: "file", class: "rb-hidden", tabindex: -1, "aria-hidden": "true" });
  pick.addEventListener("change", () => {
    const file = pick.files[0];
    if (!file) return;
    if (file.size > told.most_bytes) {
      setText(said, `A file of at most ${told.most_bytes / 1e6} MB fits in a message.`);
      return;
    }
    const reader = new FileReader();
    reader.onload = () => take(String(reader.result).split(",", 2)[1] || "", "", file.name);
    reader.readAsDataURL(file);
  });
  const name = { "aria-label": `Choose a file for ${told.label}` };
  const choose = plainButton("Choose a file", () => pick.click(), name);
  return { control, get: () => value, extra: [h("div", { class: "rb-acts" }, choose, pick, said)] };
}

function drawChoice(told, draft, typed) {
  const none = h("option", { value: "" }, told.required ? "Choose" : "Not set");
  const control = h("select", { onchange: typed }, none,
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
