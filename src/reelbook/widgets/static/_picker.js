// Choosing a still image: where to put it, and the one that was chosen. The code that handles files comes from the
// kernel when it is first needed (image_picker_tools.js), because a notebook saves a panel's code with every panel.
import { BUSY, GONE, ask, freshId, h, pictureUrl, plainButton, setText, showText } from "./_dom.js";
import { fieldProblem } from "./_problem.js";

/** @returns {HTMLElement} the picker; drops and pastes are taken anywhere in the frame while it is shown */
export function imagePicker(frame, model) {
  const id = freshId("image");
  const act = (name, label) => plainButton(label, () => use(name));
  const chosen = () => {
    use("take", input.files[0]);
    input.value = "";
  };
  const ofImages = { class: "rb-hidden", tabindex: -1, accept: "image/*", onchange: chosen };
  const input = h("input", { type: "file", id, ...ofImages });
  const choose = plainButton("", () => input.click());
  const camera = act("camera", "Use the camera");
  const recent = act("recent", "Recent");
  const remove = act("remove", "Remove");
  const picture = h("img", { alt: "" });
  const whole = h("div", { class: "rb-picked" }, picture);
  const hint = h("span", { class: "rb-quiet" }, "or drop one here, or paste it");
  const caption = h("div", { class: "rb-quiet" });
  const { node: problem, show } = fieldProblem();
  const acts = h("div", { class: "rb-acts" }, choose, camera, recent, remove);
  const words = h("div", { class: "rb-drop-words" }, acts, hint, caption, problem);
  const zone = h("div", { class: "rb-drop", tabindex: -1 }, whole, words);
  const field = h("div", { class: "rb-field" }, h("label", { for: id, class: "rb-label" }, "Image"), input, zone);
  const shown = () => field.isConnected && field.offsetParent !== null;

  let tools = null;
  const fetchTools = async () => {
    const answer = await ask(frame, model, { name: "tools" });
    if (!answer) throw new Error(GONE);
    // Loaded as the widget's own module is: from text, as a file in memory.
    const url = URL.createObjectURL(new Blob([answer.code], { type: "text/javascript" }));
    try {
      const { pickerTools } = await import(url);
      frame.root.append(h("style", {}, answer.style));
      const parts = { zone, whole, picture, words, choose, camera, recent };
      return pickerTools({ frame, model, limits: answer.limits, show, shown, ...parts });
    } finally { URL.revokeObjectURL(url); }
  };
  const use = async (name, ...given) => {
    show("");
    const slow = setTimeout(() => show(BUSY), 5000);
    try {
      tools ??= fetchTools();
      const ready = await tools;
      show("");
      ready[name](...given);
    } catch {
      tools = null;
      show(GONE);
    } finally { clearTimeout(slow); }
  };

  const over = (event) => {
    if (!shown() || !event.dataTransfer || !Array.from(event.dataTransfer.types).includes("Files")) return;
    event.preventDefault();
    event.stopPropagation(); // or the notebook would take the file
    zone.classList.toggle("rb-over", event.type === "dragover" || event.type === "dragenter");
    if (event.type !== "drop") return;
    const files = Array.from(event.dataTransfer.files);
    use("take", files.find((file) => !file.type || file.type.startsWith("image/")) || files[0]);
  };
  for (const kind of ["dragenter", "dragover", "dragleave", "drop"]) frame.root.addEventListener(kind, over);
  frame.root.addEventListener("paste", (event) => {
    event.stopPropagation();
    const files = Array.from(event.clipboardData.files);
    const file = shown() && files.find((one) => one.type.startsWith("image/"));
    if (!file) return;
    event.preventDefault();
    use("take", file);
  });
  pictureUrl(frame, model, "preview", (url) => {
    whole.hidden = remove.hidden = !url;
    hint.hidden = Boolean(url);
    setText(choose, url ? "Choose another" : "Choose an image");
    if (url) picture.src = url;
  });
  frame.draw(["image_words"], () => {
    const text = model.get("image_words");
    showText(caption, text);
    if (!text) return;
    show("");
    frame.say(`Image: ${text}`);
    // The tools bring the choice of shapes. Failing is no news here: nobody has pressed anything yet.
    tools ??= fetchTools();
    tools.catch(() => { tools = null; });
  });
  return field;
}
