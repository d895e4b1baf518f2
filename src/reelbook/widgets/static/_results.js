// A tool's result, part by part: text as text, pictures and sound fetched from the kernel.
import { h, setText, tell } from "./_dom.js";
import { fetchClip, saveFile } from "./_fetch.js";

/** @param {Array<any>} parts of reelbook.widgets.results @returns {{nodes: HTMLElement[], close: () => void}} */
export function drawParts(frame, model, parts) {
  const urls = [];
  let closed = false;
  const get = async (part, say) => {
    try {
      const blob = new Blob([await fetchClip(frame, model, (done) => say(done < 1 ? `Loading: ${Math.floor(done * 100)} %` : ""), part.key)], { type: part.mime });
      return closed ? null : blob;
    } catch (error) { say(error.message); return null; }
  };
  const address = (blob) => {
    urls.push(URL.createObjectURL(blob));
    return urls[urls.length - 1];
  };
  const media = (part) => {
    const words = h("span", { class: "rb-quiet" });
    const box = h("div", { class: "rb-media" });
    let blob = null;
    const save = h("button", { type: "button", class: "rb-plain rb-small", onclick: async () => { blob ??= await get(part, (text) => setText(words, text)); if (blob) saveFile(blob, part.file); } }, "Save");
    if (part.kind !== "file") {
      get(part, (text) => setText(words, text)).then((came) => {
        if (!came) return;
        blob = came;
        const wrong = () => { box.replaceChildren(); setText(words, "This browser can't show it."); };
        const label = part.label || `From the tool: ${part.kind}`;
        if (part.kind === "image") box.append(h("img", { src: address(blob), alt: label, onerror: wrong }));
        else box.append(h(part.kind, { src: address(blob), controls: true, "aria-label": label, onerror: wrong }));
      });
    }
    return [h("div", { class: "rb-label" }, part.label || part.kind[0].toUpperCase() + part.kind.slice(1), h("small", {}, part.about), save, words), box];
  };
  const text = (part) => {
    const body = h("pre", { class: "rb-said", tabindex: 0, "aria-label": part.label || "Text" }, part.text);
    const more = h("button", { type: "button", class: "rb-plain rb-small" });
    const count = (left) => { more.hidden = !left; setText(more, `Show more: ${left.toLocaleString("en")} letters`); };
    count(part.left || 0);
    let shown = part.text.length; // of UTF-16 letters; the kernel counts its own
    let begin = [...part.text].length;
    more.addEventListener("click", () => { more.disabled = true; if (!tell(model, { name: "more", key: part.key, begin })) setText(more, "The kernel doesn't answer"); });
    frame.listen("msg:custom", (content) => {
      if (content.name !== "more" || content.key !== part.key || content.begin !== begin || !body.isConnected) return;
      body.append(content.text);
      begin += [...content.text].length;
      shown += content.text.length;
      more.disabled = false;
      count(content.left);
    });
    return [...(part.label ? [h("div", { class: "rb-label" }, h("span", { class: "rb-said" }, part.label))] : []), body, more, ...(part.cut ? [h("div", { class: "rb-hint" }, part.cut)] : [])];
  };
  const link = (part) => [h("div", { class: "rb-label" }, part.label || "Link", h("small", {}, part.about)), h("div", { class: "rb-said" }, part.text),
    ...(part.help ? [h("div", { class: "rb-hint rb-said" }, part.help)] : []),
    ...(part.href ? [h("a", { href: part.href, target: "_blank", rel: "noopener noreferrer" }, "Open in a new tab")] : [])];
  const note = (part) => [h("div", { class: "rb-quiet" }, part.text)];
  const DRAW = { text, link, note };
  const nodes = parts.map((part) => h("div", { class: "rb-part" }, ...(DRAW[part.kind] || media)(part)));
  return { nodes, close: () => { closed = true; for (const url of urls.splice(0)) URL.revokeObjectURL(url); } };
}
