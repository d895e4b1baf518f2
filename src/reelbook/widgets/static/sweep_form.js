// The form of a sweep: a template, what varies, what that comes to; and the earlier sweeps.
import { codeCopies } from "./_code.js";
import { ask, focusedNode, freshId, h, plainButton, refill, setText, showText, tell } from "./_dom.js";
import { askingButtons } from "./_asking.js";
import { tellWhenLeft } from "./_left.js";
import { panel } from "./_live.js";
import { posters } from "./_posters.js";
import { fieldProblem } from "./_problem.js";
import { promptTools } from "./_prompt_tools.js";
import { typedValues } from "./_typed.js";

export default panel("sweep_form", "New sweep", (frame, model) => {
  const words = () => model.get("words");
  const limits = model.get("limits");
  const { set, flush, waits, unsaved } = typedValues(frame, model);
  const press = (name, more) => { if (unsaved()) flush(); tell(model, { name, ...more }); };

  const template = h("textarea", {
    id: freshId("template"), rows: 3, maxlength: limits.template,
    oninput: () => set("template", template.value, true),
  });
  const wrong = fieldProblem(template);
  const { buttons: openers, box: offers } = promptTools(frame, model, template, (text) => {
    template.value = text;
    set("template", text);
  });
  const mark = plainButton("Make a slot", async () => {
    const [from, to] = [template.selectionStart, template.selectionEnd];
    const marked = template.value.slice(from, to);
    const at = from + marked.search(/\S/);
    if (!marked.trim()) {
      const text = "Mark the words in the prompt that are to vary, then press Make a slot.";
      return frame.showMessage({ text, tone: "info" });
    }
    const after = template.value.slice(at + marked.trim().length);
    if (unsaved()) flush();
    const before = template.value.slice(0, at);
    const slot = { name: "slot", before, marked: marked.trim(), after, axes: filledIn() };
    const answer = await ask(frame, model, slot);
    if (!answer?.axis) return;
    frame.showMessage({ text: "", tone: "info" });
    const { input } = line(answer.axis);
    input.focus();
    input.setSelectionRange(input.value.length, input.value.length);
  });
  openers.append(mark);
  const varies = h("span", { class: "rb-seg", role: "group", "aria-label": "Vary" });
  const varyRow = h("div", { class: "rb-acts", hidden: true }, h("span", { class: "rb-quiet" }, "Vary"), varies);
  const rows = h("tbody");
  const designs = h("div", { class: "rb-seg", role: "group", "aria-label": "Design" });
  const typedSample = () => {
    if (sample.validity.valid && sample.value) set("sample", Number(sample.value), true);
  };
  const sample = h("input",
    { type: "number", id: freshId("sample"), min: 1, max: limits.sample, oninput: typedSample });
  const sampleField = h("label", { class: "rb-sample", for: sample.id }, sample, "clips");
  const sums = h("dl");
  const note = h("p", { class: "rb-quiet" });
  const why = h("p", { class: "rb-why", hidden: true });
  const buys = h("div", { class: "rb-acts" });
  const drawBuys = () => askingButtons(buys, words().buttons, (name, text, act) => plainButton(
    text, () => words().off ? press("balance") : act(), { class: name === "begin" ? "rb-primary" : "rb-plain" }),
  (name, answer) => press(name, { answer }), template);
  const look = plainButton("Look at the cells", () => press("look"));
  const code = codeCopies(frame, model, ["cell", "script"]);
  const left = h("ul", { class: "rb-left" });
  const pictures = posters(frame, model);
  const earlier = h("section", { class: "rb-pane", "aria-label": "Earlier sweeps", hidden: true },
    h("h3", {}, "Earlier sweeps"), left);
  const titles = ["Axis", "Values", "Count"].map((text) => h("th", { scope: "col" }, text));
  frame.body.append(h("div", { class: "rb-sweep" },
    h("section", { class: "rb-pane", "aria-label": "Template and axes" },
      h("div", { class: "rb-label" },
        h("label", { for: template.id }, "Prompt"), h("span", { class: "rb-acts" }, frame.badge, openers)),
      template, offers, wrong.node, varyRow,
      h("table", {}, h("thead", {}, h("tr", {}, ...titles)), rows),
      h("div", { class: "rb-acts" }, designs, sampleField)),
    h("section", { class: "rb-pane", "aria-label": "What it comes to" },
      sums, note, why, h("div", { class: "rb-acts" }, code.opener, look, buys), code.choices),
    earlier));

  /** Buttons of which one is pressed, drawn without taking the focus from any. */
  const choices = (box, entries, act, pressed) => {
    entries.forEach(([name, text], place) => {
      const node = box.children[place]
        || box.appendChild(h("button", { type: "button", onclick: () => act(node.dataset.name) }));
      node.dataset.name = name;
      setText(node, text);
      node.setAttribute("aria-pressed", String(pressed(name)));
    });
    while (box.children.length > entries.length) box.lastElementChild.remove();
  };
  // What stands in the fields is what counts, whatever the model has heard of it.
  const filledIn = () => Object.fromEntries([...lines]
    .filter(([name, { input, node }]) => node.isConnected && (input.value || name in model.get("axes")))
    .map(([name, { input }]) => [name, input.value]));
  // A row for each axis is kept as long as the axis is: what is typed in it must not lose the focus.
  const lines = new Map();
  const line = (name) => {
    if (lines.has(name)) return lines.get(name);
    const input = h("input", { type: "text", id: freshId("axis"), autocomplete: "off", spellcheck: "false" });
    const label = h("label", { for: input.id });
    const count = h("td", { class: "rb-count" });
    const problem = fieldProblem(input);
    const node = h("tr", {}, h("th", { scope: "row" }, label), h("td", {}, input, problem.node), count);
    const made = { input, label, count, problem, node };
    input.value = model.get("axes")[name] || "";
    input.addEventListener("input", () => set("axes", { ...model.get("axes"), ...filledIn() }, true));
    lines.set(name, made);
    return made;
  };
  frame.draw(["words"], () => {
    const now = words();
    wrong.show(now.problems.template || "");
    const wanted = now.rows.map(([name, title, hint, count]) => {
      const made = line(name);
      setText(made.label, title);
      made.input.placeholder = hint;
      setText(made.count, count === null ? "" : String(count));
      made.problem.show(now.problems[name] || "");
      return made.node;
    });
    if (wanted.some((node, place) => rows.children[place] !== node) || rows.children.length !== wanted.length) {
      const focused = focusedNode();
      rows.replaceChildren(...wanted);
      if (rows.contains(focused)) focused.focus();
    }
    varyRow.hidden = !now.varies.length;
    choices(varies, now.varies, (name) => press("vary", { axis: name }),
      (name) => now.varies.some(([each, , is]) => each === name && is));
    choices(designs, now.designs, (name) => set("design", name), (name) => model.get("design") === name);
    sums.replaceChildren(...now.lines.flatMap(([what, much]) => {
      const attributes = { class: what === "Cost" ? "rb-all" : null };
      return [h("dt", attributes, what), h("dd", attributes, much)];
    }));
    sums.hidden = !now.lines.length;
    setText(note, now.off === now.note ? "" : now.note);
    showText(why, now.off);
    code.opener.hidden = !now.lines.length;
    if (code.opener.hidden && !code.choices.hidden) code.opener.click();
    look.hidden = !now.looks || !now.buttons.length;
    drawBuys();
    for (const node of buys.querySelectorAll(".rb-primary")) {
      node.setAttribute("aria-disabled", String(Boolean(now.off)));
    }
  });
  const show = (control, value) => { if (control.value !== value) control.value = value; };
  frame.draw(["template"], () => {
    if (focusedNode() !== template || !unsaved()) show(template, model.get("template"));
  });
  frame.draw(["axes"], () => {
    if (waits("axes") !== undefined) return;
    for (const [name, { input }] of lines) show(input, model.get("axes")[name] || "");
  });
  frame.draw(["design", "sample"], () => {
    for (const node of designs.children) {
      node.setAttribute("aria-pressed", String(node.dataset.name === model.get("design")));
    }
    sampleField.hidden = !["sample", "latin-hypercube"].includes(model.get("design"));
    if (focusedNode() !== sample) sample.value = model.get("sample");
  });
  frame.draw(["earlier"], () => {
    const all = model.get("earlier");
    earlier.hidden = !all.length;
    for (const picture of left.querySelectorAll("img")) pictures.forget(picture);
    refill(left, all.map(({ id, name, said, resume }) => {
      const picture = h("img", { alt: "", hidden: true });
      const more = resume ? [plainButton(resume, () => press("resume", { run: id }), { "data-resume": id })] : [];
      const opens = { "data-open": id, "aria-label": `Open ${name}` };
      const open = plainButton("Open", () => press("open", { run: id }), opens);
      const item = h("li", {}, h("span", { class: "rb-thumb" }, picture),
        h("span", { class: "rb-name" }, name), h("span", { class: "rb-quiet" }, said),
        h("span", { class: "rb-acts" }, ...more, open));
      pictures.show(picture, id);
      return item;
    }));
  });
  frame.root.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (event.repeat || words().off) return;
    if (buys.firstElementChild) buys.firstElementChild.click();
    else press("begin"); // what was typed a moment ago
  });
  frame.draw(["template", "axes", "design", "sample"], () => {
    if (buys.children.length < 2) return;
    delete buys.dataset.drawn; // what is asked was about something else
    drawBuys();
  });
  tellWhenLeft(frame, model);
  frame.listen("msg:custom", ({ name }) => {
    if (name !== "look") return;
    frame.root.scrollIntoView({ block: "start", behavior: "instant" });
    varies.querySelector("button")?.focus({ preventScroll: true });
  });
});
