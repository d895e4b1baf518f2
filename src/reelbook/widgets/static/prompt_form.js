// The form for a clip: what is typed goes to the model; costs, and why the button is off, come from Python.
import { codeCopies } from "./_code.js";
import { freshId, h, openPanel, setText, tell } from "./_dom.js";
import { keepAsking } from "./_live.js";
import { imagePicker } from "./_picker.js";
import { fieldProblem } from "./_problem.js";
import { promptTools } from "./_prompt_tools.js";
import { typedValues } from "./_typed.js";

const MODES = [["text-to-video", "From text"], ["image-to-video", "From an image"]];
const SHAPES = [["16:9", 16, 9], ["9:16", 9, 16], ["1:1", 12, 12]];

function render({ model, el }) {
  const frame = openPanel(model, el, "prompt_form", "New clip");
  const { set, flush } = typedValues(frame, model);
  const pressed = (buttons, value) => buttons.forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.value === value)));
  const choices = (label, entries, onPick) => h("div", { class: "rb-seg", role: "group", "aria-label": label },
    ...entries.map(([value, ...inside]) => h("button", { type: "button", "data-value": value, onclick: () => onPick(value) }, ...inside)));
  const problemFor = (field, control) => {
    const { node, show } = fieldProblem(control);
    frame.draw(["problems"], () => show(model.get("problems")[field] || ""));
    return node;
  };

  const modes = choices("Start from", MODES, (mode) => set("mode", mode));
  const badge = h("span", { class: "rb-badge", hidden: !model.get("mark") }, model.get("mark"));
  const prompt = h("textarea", { id: freshId("prompt"), rows: 4, maxlength: 20000, oninput: () => { set("prompt", prompt.value, true); drawGo(); } });
  const hint = h("div", { class: "rb-hint" });
  const { buttons: openers, box: offers } = promptTools(frame, model, prompt, (text) => { prompt.value = text; set("prompt", text); drawGo(); });
  const length = h("input", { type: "range", id: freshId("length"), min: 1, max: 10, step: 1, oninput: () => { set("duration_seconds", Number(length.value), true); drawLength(); drawGo(); } });
  const lengthWords = h("output", { class: "rb-quiet", for: length.id });
  const ratios = choices("Shape", SHAPES.map(([ratio, wide, high]) => [ratio, h("i", { style: `width:${wide}px;height:${high}px` }), ratio]), (ratio) => set("aspect_ratio", ratio));
  const seedModes = choices("Seed", [["random", "Random"], ["fixed", "Fixed"]], (kind) => { set("seed", kind === "random" ? -1 : dice()); if (kind === "fixed") seed.focus(); });
  const seed = h("input", { type: "text", inputmode: "numeric", id: freshId("seed"), autocomplete: "off", oninput: () => { if (seedGood()) set("seed", Number(seed.value), true); drawGo(); } });
  const another = h("button", { type: "button", class: "rb-plain", onclick: () => set("seed", dice()) }, "New");
  const cost = h("span");
  const why = h("span", { class: "rb-why" });
  const go = h("button", { type: "button", class: "rb-primary", onclick: () => generate() });
  const plan = h("button", { type: "button", class: "rb-primary", onclick: () => planIt() });
  // The values go with the message: a state update may still be waiting behind an earlier one.
  const values = () => ({ values: { mode: model.get("mode"), prompt: prompt.value, duration_seconds: Number(length.value), aspect_ratio: model.get("aspect_ratio"), seed: seed.hidden ? -1 : Number(seed.value) } });
  const code = codeCopies(frame, model, ["cell", "script", "curl"], values);
  const picker = imagePicker(frame, model);
  const shapeField = h("div", { class: "rb-field rb-whole" }, h("div", { class: "rb-label" }, "Shape"), ratios, problemFor("aspect_ratio"));
  const serviceShape = h("div", { class: "rb-field rb-quiet" }, "Shape and seed are the service's choice.");
  const seedField = h("div", { class: "rb-field" },
    h("div", { class: "rb-label" }, h("label", { for: seed.id }, "Seed"), h("small", {}, "the same seed makes the same clip")),
    h("div", { class: "rb-seed" }, seedModes, seed, another), problemFor("seed", seed));
  frame.body.append(h("div", { class: "rb-form rb-frame" },
    h("div", { class: "rb-go" }, modes, badge), picker, problemFor("image"),
    h("div", { class: "rb-field" }, h("div", { class: "rb-label" }, h("label", { for: prompt.id }, "Prompt"), openers), prompt, offers, problemFor("prompt", prompt), hint),
    h("div", { class: "rb-row" },
      h("div", { class: "rb-field" }, h("div", { class: "rb-label" }, h("label", { for: length.id }, "Length"), lengthWords), length, problemFor("duration_seconds", length)),
      shapeField, serviceShape),
    seedField,
    h("div", { class: "rb-go" }, h("div", { class: "rb-quiet rb-go-words" }, cost, why), h("div", { class: "rb-acts" }, code.opener, go, plan)), code.choices));

  const dice = () => Math.floor(Math.random() * 2 ** 31);
  const seedGood = () => /^\s*[-+]?\d+\s*$/.test(seed.value) && Number.isSafeInteger(Number(seed.value));
  const fromText = () => model.get("mode") === "text-to-video";
  const seedWrong = () => fromText() && !seed.hidden && !seedGood();
  let busy = "";
  let resting = false;  // sent a moment ago: a double press, or a key held down, must not buy a second clip

  /** Why the button is off; empty if it isn't. */
  const reason = () => {
    const words = model.get("words");
    if (busy) return "";
    if (!fromText() && !model.get("image_words")) return words.no_image;
    if (!prompt.value.trim()) return words.no_prompt;
    if (seedWrong()) return words.bad_seed;
    return words.lengths[length.value - 1].off;
  };
  const drawGo = () => {
    const words = model.get("words").lengths[length.value - 1];
    const off = reason();
    setText(cost, words.line);
    setText(why, busy === "slow" ? model.get("words").busy : off || words.low);
    why.hidden = !why.textContent;
    setText(go, busy ? "Sending" : words.button);
    go.setAttribute("aria-disabled", String(Boolean(off || busy || resting)));
    const planned = model.get("plan");
    setText(plan, planned);
    plan.hidden = !planned;
    go.className = planned ? "rb-plain" : "rb-primary";
    setText(hint, model.get("words")[!fromText() ? "image_hint" : planned ? "plan_hint" : "hint"]);
  };
  const planIt = () => {
    flush();
    tell(model, { name: "plan", prompt: prompt.value });
  };
  const drawLength = () => setText(lengthWords, `${length.value} s`);
  const generate = () => {
    if (busy || resting) return;
    if (reason()) return (!prompt.value.trim() ? prompt : seedWrong() ? seed : go).focus();
    flush();
    const token = (busy = freshId("send"));
    const slow = setTimeout(() => { if (busy === token) { busy = "slow"; drawGo(); } }, 4000);
    const from = performance.now();
    const done = (content) => {
      if (content.name !== "answered" || content.id !== token) return;
      model.off("msg:custom", done);
      clearTimeout(slow);
      busy = "";
      resting = true;
      drawGo();
      setTimeout(() => { resting = false; drawGo(); }, Math.max(0, 1500 - (performance.now() - from)));
    };
    frame.listen("msg:custom", done);
    const out = tell(model, { name: "generate", id: token, ...values() });
    if (!out) busy = "slow";
    drawGo();
  };
  frame.root.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (!event.repeat) model.get("plan") ? planIt() : generate();
  });

  frame.draw(["mode"], () => {
    pressed([...modes.children], model.get("mode"));
    for (const node of [shapeField, seedField]) node.hidden = !fromText();
    for (const node of [picker, serviceShape]) node.hidden = fromText();
    drawGo();
  });
  frame.draw(["prompt"], () => { if (prompt.value !== model.get("prompt")) prompt.value = model.get("prompt"); drawGo(); });
  frame.draw(["duration_seconds"], () => { length.value = model.get("duration_seconds"); drawLength(); drawGo(); });
  frame.draw(["aspect_ratio"], () => pressed([...ratios.children], model.get("aspect_ratio")));
  frame.draw(["seed"], () => {
    const value = model.get("seed");
    const fixed = value !== -1;
    pressed([...seedModes.children], fixed ? "fixed" : "random");
    seed.hidden = another.hidden = !fixed;
    if (fixed && Number(seed.value) !== value || !seedGood()) seed.value = fixed ? String(value) : "";
    drawGo();
  });
  frame.draw(["words", "image_words", "plan"], drawGo);
  keepAsking(frame, model);
  return () => frame.close();
}

export default { render };
