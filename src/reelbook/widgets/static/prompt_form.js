// The form for a clip: what is typed goes to the model; fields, limits and costs come from Python.
import { codeCopies } from "./_code.js";
import { ask, filledButton, freshId, h, plainButton, segment, setText, showText, tell } from "./_dom.js";
import { panel } from "./_live.js";
import { passportDrop } from "./_passport.js";
import { imagePicker } from "./_picker.js";
import { fieldProblem } from "./_problem.js";
import { promptTools } from "./_prompt_tools.js";
import { typedValues } from "./_typed.js";

const MODES = [["text-to-video", "From text"], ["image-to-video", "From an image"]];
const SLOW = "The kernel is busy or gone. If it is busy, the clip is sent once, when it is free.";
const VARIES = /\{[^{}]+\}|__[\p{L}\p{N}_](?:[\p{L}\p{N}_/.-]*[\p{L}\p{N}_])?__/u; // what would vary in a template

/** A small drawing of a shape that is written as 16:9. */
function outline(choice) {
  const [wide, high] = choice.split(":").map(Number);
  const unit = 12 / Math.sqrt(wide * high);
  return high ? [h("i", { style: `width:${wide * unit}px;height:${high * unit}px` })] : [];
}

export default panel("prompt_form", "New clip", (frame, model) => {
  const { set, flush } = typedValues(frame, model);
  const [promptField, ...others] = model.get("fields");
  const problemFor = (name, control) => {
    const { node, show } = fieldProblem(control);
    frame.draw(["problems"], () => show(model.get("problems")[name] || ""));
    return node;
  };
  const labelled = ({ name, label }, control, inside, ...beside) => h("div", { class: "rb-field" },
    h("div", { class: "rb-label" }, h("label", { for: control.id }, label), ...beside),
    ...inside, problemFor(name, control));

  // Each kind of control: its node, the value in it, how it shows the model's, and what is wrong with it.
  const controls = {
    slider(field) {
      const { name, low, high, unit } = field;
      const show = () => setText(output, `${input.value} ${unit}`);
      const typed = () => { set(name, Number(input.value), true); show(); drawGo(); };
      const input = h("input",
        { type: "range", id: freshId(name), min: low, max: high, step: 1, oninput: typed });
      const output = h("output", { class: "rb-quiet", for: input.id });
      const draw = (value) => { input.value = value; show(); drawGo(); };
      return { node: labelled(field, input, [input], output), value: () => Number(input.value), draw };
    },
    choices({ name, label, choices }) {
      const { node: buttons, press } = segment(label,
        choices.map((choice) => [choice, ...outline(choice), choice]), (choice) => set(name, choice));
      const node = h("div", { class: "rb-field rb-whole" },
        h("div", { class: "rb-label" }, label), buttons, problemFor(name));
      return { node, value: () => model.get(name), draw: press };
    },
    seed(field) {
      const { name, label, help, random } = field;
      const dice = () => Math.floor(Math.random() * 2 ** 31);
      const good = () => /^\s*[-+]?\d+\s*$/.test(input.value) && Number.isSafeInteger(Number(input.value));
      const { node: modes, press } = segment(label, [["random", "Random"], ["fixed", "Fixed"]], (kind) => {
        set(name, kind === "random" ? random : dice());
        if (kind === "fixed") input.focus();
      });
      const typed = () => { if (good()) set(name, Number(input.value), true); drawGo(); };
      const input = h("input",
        { type: "text", inputmode: "numeric", id: freshId(name), autocomplete: "off", oninput: typed });
      const another = plainButton("New", () => set(name, dice()));
      const draw = (value) => {
        const fixed = value !== random;
        press(fixed ? "fixed" : "random");
        input.hidden = another.hidden = !fixed;
        if (fixed && Number(input.value) !== value || !good()) input.value = fixed ? String(value) : "";
        drawGo();
      };
      return {
        node: labelled(field, input, [h("div", { class: "rb-seed" }, modes, input, another)], h("small", {}, help)),
        value: () => input.hidden ? random : Number(input.value),
        draw, wrong: () => input.hidden || good() ? null : input,
      };
    },
    text(field) {
      const input = h("textarea", { id: freshId(field.name), rows: 2, maxlength: field.high,
        oninput: () => set(field.name, input.value, true) });
      const draw = (value) => { if (input.value !== value) input.value = value; };
      return { node: labelled(field, input, [input], h("small", {}, field.help)), value: () => input.value, draw };
    },
  };

  const modes = segment("Start from", MODES, (mode) => set("mode", mode));
  const writePrompt = (soon) => { set("prompt", prompt.value, soon); drawGo(); };
  const prompt = h("textarea",
    { id: freshId("prompt"), rows: 4, maxlength: promptField.high, oninput: () => writePrompt(true) });
  const hint = h("div", { class: "rb-hint" });
  const { buttons: openers, box: offers } = promptTools(frame, model, prompt, (text) => {
    prompt.value = text;
    writePrompt();
  });
  const options = others.filter(({ control }) => control in controls)
    .map((field) => ({ ...field, ...controls[field.control](field) }));
  const byName = Object.fromEntries(options.map((option) => [option.name, option]));
  const cost = h("span");
  const why = h("span", { class: "rb-why" });
  const go = filledButton("", () => generate());
  const plan = filledButton("", () => planIt());
  // The values go with the message: a state update may still be waiting behind an earlier one.
  const values = () => ({ values: {
    mode: model.get("mode"), prompt: prompt.value,
    ...Object.fromEntries(options.map(({ name, value }) => [name, value()])),
  } });
  const code = codeCopies(frame, model, ["cell", "script", "curl"], values);
  const clip = passportDrop(frame, model); // first: it leaves pictures to the picker
  openers.append(clip.button);
  const picker = imagePicker(frame, model);
  const serviceShape = h("div", { class: "rb-field rb-quiet" }, "Shape and seed are the service's choice.");
  const short = ({ control }) => control === "slider" || control === "choices";
  frame.body.append(h("div", { class: "rb-form rb-frame" },
    h("div", { class: "rb-go" }, modes.node, frame.badge), picker, problemFor("image"),
    labelled(promptField, prompt, [prompt, offers, clip.node, hint], openers),
    h("div", { class: "rb-row" }, ...options.filter(short).map(({ node }) => node), serviceShape),
    ...options.filter((option) => !short(option)).map(({ node }) => node),
    h("div", { class: "rb-go" },
      h("div", { class: "rb-quiet rb-go-words" }, cost, why),
      h("div", { class: "rb-acts" }, code.opener, go, plan)),
    code.choices));

  const fromText = () => model.get("mode") === "text-to-video";
  const taken = (field) => field.modes.includes(model.get("mode"));
  const wrongOne = () => options.find((option) => taken(option) && option.wrong?.());
  const lengthWords = () => {
    const { low, value } = byName.duration_seconds;
    return model.get("words").lengths[value() - low];
  };
  let busy = "";
  let resting = false;  // sent a moment ago: a double press, or a key held down, must not buy a second clip

  /** Why the button is off; empty if it isn't. */
  const reason = () => {
    const words = model.get("words");
    if (busy || words.replace_key) return "";
    if (!fromText() && !model.get("image_words")) return "Choose an image first.";
    if (!prompt.value.trim()) return "Write a prompt first.";
    if (wrongOne()) return "The seed must be a whole number.";
    return lengthWords().off;
  };
  const drawGo = () => {
    const words = lengthWords();
    const off = reason();
    setText(cost, words.line);
    showText(why, busy === "slow" ? SLOW : off || words.low);
    setText(go, busy ? "Sending" : model.get("words").replace_key || words.button);
    go.setAttribute("aria-disabled", String(Boolean(off || busy || resting)));
    const planned = model.get("plan");
    showText(plan, planned);
    go.className = planned ? "rb-plain" : "rb-primary";
    const varies = !planned && prompt.value.match(VARIES);
    setText(hint, varies ? `“${varies[0].slice(0, 40)}” is sent as it is. Open it in Explore to vary it.`
      : !fromText() ? "Say what moves, and how the camera moves."
      : planned ? "This is a template: a sweep makes its variants. Generate sends it as it is written."
      : "Say what is seen, how it moves, how the camera moves.");
  };
  const planIt = () => {
    flush();
    tell(model, { name: "plan", prompt: prompt.value });
  };
  const generate = async () => {
    if (busy || resting) return;
    if (model.get("words").replace_key) return tell(model, { name: "replace_key" });
    if (reason() && reason() === lengthWords().off) return tell(model, { name: "balance" });
    if (reason()) return (!prompt.value.trim() ? prompt : wrongOne()?.wrong() || go).focus();
    flush();
    const draw = (now, rests = false) => {
      busy = now;
      resting = rests;
      drawGo();
    };
    const slow = setTimeout(draw, 4000, "slow");
    const from = performance.now();
    draw("sent");
    const answer = await ask(frame, model, { name: "generate", ...values() });
    clearTimeout(slow);
    if (!answer) return draw("slow");
    draw("", true);
    setTimeout(draw, Math.max(0, 1500 - (performance.now() - from)), "");
  };
  frame.root.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (!event.repeat) model.get("plan") ? planIt() : generate();
  });

  frame.draw(["mode"], () => {
    modes.press(model.get("mode"));
    for (const option of options) option.node.hidden = !taken(option);
    for (const node of [picker, serviceShape]) node.hidden = fromText();
    drawGo();
  });
  frame.draw(["prompt"], () => {
    if (prompt.value !== model.get("prompt")) prompt.value = model.get("prompt");
    drawGo();
  });
  for (const { name, draw } of options) frame.draw([name], () => draw(model.get(name)));
  frame.draw(["words", "image_words", "plan"], drawGo);
});
