// A tool's result, part by part: text as text, pictures, sound and film fetched from the kernel.
import { h, setText } from "./_dom.js";
import { fetchClip } from "./_fetch.js";

/**
 * A part of what reelbook.widgets.tool_explorer shows of a result.
 * @typedef {{kind: "text" | "link" | "note" | "image" | "audio" | "video", label?: string, about?: string,
 *   text?: string, cut?: string, href?: string, key?: string, mime?: string}} Part `key`: of what is fetched
 */

/** @param {Part[]} parts @returns {{nodes: HTMLElement[], close: () => void}} */
export function drawParts(frame, model, parts) {
  const urls = [];
  let closed = false;
  const media = (part) => {
    const words = h("span", { class: "rb-quiet" });
    const box = h("div", { class: "rb-media" });
    const told = (done) => setText(words, done < 1 ? `Loading: ${Math.floor(done * 100)} %` : "");
    const onerror = () => {
      box.replaceChildren();
      setText(words, "This browser can't show it.");
    };
    fetchClip(frame, model, told, part.key).then((blob) => {
      if (closed) return;
      const src = URL.createObjectURL(new Blob([blob], { type: part.mime }));
      urls.push(src);
      if (part.kind === "image") box.append(h("img", { alt: part.label, src, onerror }));
      else box.append(h(part.kind, { controls: true, "aria-label": part.label, src, onerror }));
    }, (error) => setText(words, error.message));
    return [h("div", { class: "rb-label" }, part.label, h("small", {}, part.about), words), box];
  };
  const labelled = (label, about = "") => {
    if (!label) return [];
    return [h("div", { class: "rb-label" }, h("span", { class: "rb-said" }, label), h("small", {}, about))];
  };
  const text = (part) => [
    ...labelled(part.label),
    h("pre", { class: "rb-said", tabindex: 0, "aria-label": part.label || "Text" }, part.text),
    ...(part.cut ? [h("div", { class: "rb-hint" }, part.cut)] : []),
  ];
  const away = { target: "_blank", rel: "noopener noreferrer" };
  const link = (part) => [
    ...labelled(part.label, part.about),
    h("div", { class: "rb-said" }, part.text),
    ...(part.href ? [h("a", { href: part.href, ...away }, "Open in a new tab")] : []),
  ];
  const note = (part) => [h("div", { class: "rb-quiet" }, part.text)];
  const DRAW = { text, link, note };
  const nodes = parts.map((part) => h("div", { class: "rb-part" }, ...(DRAW[part.kind] || media)(part)));
  const close = () => {
    closed = true;
    for (const url of urls.splice(0)) URL.revokeObjectURL(url);
  };
  return { nodes, close };
}
