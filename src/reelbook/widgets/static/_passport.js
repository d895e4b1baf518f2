// Filling a form from a file that says what made it: an exported clip, the JSON beside it, or a zip of them.
import { BUSY, GONE, ask, freshId, h, plainButton } from "./_dom.js";

const PIECE = 960 * 1024;
const ENDINGS = [".mp4", ".json", ".zip"];
const EMPTY_BOX = new Uint8Array([0, 0, 0, 8, 0x6d, 0x64, 0x61, 0x74]); // "mdat", which has the pictures

/** An MP4 without its pictures, which say nothing of what made it; any other file as it is. */
async function withoutPictures(file) {
  if (!file.name.toLowerCase().endsWith(".mp4")) return file;
  const parts = [];
  for (let at = 0; at < file.size && parts.length < 100;) {
    const head = new DataView(await file.slice(at, at + 16).arrayBuffer());
    let size = head.byteLength < 16 ? 0 : head.getUint32(0);
    if (size === 1) size = Number(head.getBigUint64(8));
    if (size < 8 || at + size > file.size) size = file.size - at; // the last one, or damaged: the kernel says which
    const pictures = head.byteLength === 16 && head.getUint32(4) === 0x6d646174;
    parts.push(pictures ? EMPTY_BOX : file.slice(at, at + size));
    at += size;
  }
  return new Blob(parts);
}

/** @returns {{button: HTMLElement, node: HTMLElement}} the way without a mouse, and which clip of several it is */
export function passportDrop(frame, model) {
  const ofClips = { class: "rb-hidden", tabindex: -1, accept: ENDINGS.join(","), "aria-label": "Clip, JSON or zip" };
  const input = h("input", { type: "file", ...ofClips, onchange: () => {
    send(input.files[0]);
    input.value = "";
  } });
  const button = plainButton("From a clip…", () => input.click(), {
    title: "Fills the form from an exported clip, its JSON or a zip. It can be dropped here, too.",
  });
  const node = h("div", { class: "rb-acts rb-clips", role: "group", "aria-label": "Which clip", hidden: true });
  const question = async (content, buffers) => {
    const slow = setTimeout(() => frame.showMessage({ text: BUSY, tone: "info" }), 5000);
    const answer = await ask(frame, model, content, buffers);
    clearTimeout(slow);
    if (!answer) frame.showMessage({ text: GONE, tone: "problem" });
    return answer;
  };
  const send = async (file) => {
    if (!file) return;
    node.hidden = true;
    const body = await withoutPictures(file);
    const about = { name: "passport", file: file.name, id: freshId("file"), size: body.size };
    const total = Math.max(1, Math.ceil(body.size / PIECE));
    for (let index = 0; index < total; index += 1) {
      const piece = await body.slice(index * PIECE, (index + 1) * PIECE).arrayBuffer();
      const answer = await question({ ...about, index, total }, [piece]);
      if (answer?.clips) offer(answer);
      if (!answer?.more) return;
    }
  };
  const offer = ({ clips, words }) => {
    const choose = (clip) => {
      node.hidden = true;
      question({ name: "passport_of", clip });
    };
    node.replaceChildren(h("span", { class: "rb-quiet" }, words),
      ...clips.map((clip) => plainButton(clip, () => choose(clip))));
    node.hidden = false;
    node.querySelector("button").focus();
    frame.say(words);
  };
  const over = (event) => {
    const items = Array.from(event.dataTransfer?.items ?? []);
    const files = Array.from(event.dataTransfer?.files ?? []);
    const file = files.find(({ name }) => ENDINGS.some((ending) => name.toLowerCase().endsWith(ending)));
    // While it hovers a file has no name yet. Pictures are the image picker's.
    const hovers = ({ kind, type }) => event.type !== "drop" && kind === "file" && !type.startsWith("image/");
    if (!file && !items.some(hovers)) return;
    event.preventDefault();
    event.stopImmediatePropagation(); // or the picker, or the notebook, would take it
    button.classList.toggle("rb-over", event.type !== "drop" && event.type !== "dragleave");
    if (file && event.type === "drop") send(file);
  };
  for (const kind of ["dragenter", "dragover", "dragleave", "drop"]) frame.root.addEventListener(kind, over);
  return { button: h("span", {}, button, input), node };
}
