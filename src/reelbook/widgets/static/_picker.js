// Choosing a still: a file, a drop or a paste, sent to the kernel in acknowledged pieces; what it is, Python says.
import { freshId, h, pictureUrl, setText, tell } from "./_dom.js";

const PIECE = 960 * 1024; // with its header a message stays under 1 MiB
const LARGEST = 50 * 1024 * 1024;

/** @returns {HTMLElement} the picker; drops and pastes are taken anywhere in the frame while it is shown */
export function imagePicker(frame, model) {
  const id = freshId("image");
  const input = h("input", { type: "file", id, class: "rb-hidden", tabindex: -1, accept: "image/*", onchange: () => { take(input.files[0]); input.value = ""; } });
  const choose = h("button", { type: "button", class: "rb-plain", onclick: () => input.click() });
  const remove = h("button", { type: "button", class: "rb-plain", onclick: () => { transfer += 1; show(""); tell(model, { name: "remove" }); choose.focus(); } }, "Remove");
  const picture = h("img", { class: "rb-picked", alt: "" });
  const hint = h("span", { class: "rb-quiet" }, "or drop one here, or paste it");
  const caption = h("div", { class: "rb-quiet" });
  const problem = h("div", { class: "rb-problem", role: "alert" });
  const bar = h("div", { class: "rb-bar", role: "progressbar", "aria-label": "Sending the image", "aria-valuemin": 0, "aria-valuemax": 100 }, h("i"));
  const zone = h("div", { class: "rb-drop", tabindex: -1 }, picture, h("div", { class: "rb-drop-words" }, h("div", { class: "rb-acts" }, choose, remove), hint, caption, bar, problem));
  const field = h("div", { class: "rb-field" }, h("label", { for: id, class: "rb-label" }, "Image"), input, zone);

  let transfer = 0;
  let waiting = null;
  const show = (text) => { setText(problem, text); problem.hidden = !text; };
  const shown = () => field.isConnected && field.offsetParent !== null;

  const take = async (file) => {
    if (!file) return;
    const mine = (transfer += 1);
    show("");
    if (file.size > LARGEST) return show(`The file has ${Math.round(file.size / 1048576)} MB; an image may have 50 MB. Nothing was sent.`);
    const key = freshId("send");
    const total = Math.max(1, Math.ceil(file.size / PIECE));
    bar.hidden = false;
    try {
      for (let index = 0; index < total && mine === transfer; index += 1) {
        bar.firstElementChild.style.width = `${(index / total) * 100}%`;
        bar.setAttribute("aria-valuenow", Math.round((index / total) * 100));
        const piece = await file.slice(index * PIECE, (index + 1) * PIECE).arrayBuffer();
        const slow = setTimeout(() => show("The kernel is busy. The image is sent when it is free."), 5000);
        const answer = await new Promise((resolve) => {
          waiting = { key, index, resolve };
          if (!tell(model, { name: "image", id: key, index, total, size: file.size }, [piece])) resolve({ problem: "The kernel is gone. Run the cell again." });
        });
        clearTimeout(slow);
        if (mine === transfer) show(answer.problem || "");
        if (answer.problem) break;
      }
    } catch { show("The file can't be read. Nothing was sent."); }
    if (mine === transfer) bar.hidden = true;
  };
  frame.listen("msg:custom", (content) => {
    if (content.name === "got" && waiting && content.id === waiting.key && content.index === waiting.index) waiting.resolve(content);
  });

  const imageIn = (data) => data && Array.from(data.files).find((file) => !file.type || file.type.startsWith("image/")) || (data && data.files[0]);
  const over = (event) => {
    if (!shown() || !event.dataTransfer || !Array.from(event.dataTransfer.types).includes("Files")) return;
    event.preventDefault();
    event.stopPropagation(); // the notebook would take the file itself
    zone.classList.toggle("rb-over", event.type === "dragover" || event.type === "dragenter");
    if (event.type === "drop") take(imageIn(event.dataTransfer));
  };
  for (const kind of ["dragenter", "dragover", "dragleave", "drop"]) frame.root.addEventListener(kind, over);
  frame.root.addEventListener("paste", (event) => {
    event.stopPropagation();
    const file = shown() && Array.from(event.clipboardData.files).find((one) => one.type.startsWith("image/"));
    if (!file) return;
    event.preventDefault();
    take(file);
  });
  pictureUrl(frame, model, "preview", (url) => {
    picture.hidden = remove.hidden = !url;
    hint.hidden = Boolean(url);
    setText(choose, url ? "Choose another" : "Choose an image");
    if (url) picture.src = url;
  });
  frame.draw(["image_words"], () => {
    const words = model.get("image_words");
    setText(caption, words);
    caption.hidden = !words;
    if (words) { show(""); frame.say(`Image: ${words}`); }
  });
  bar.hidden = true;
  show("");
  return field;
}
