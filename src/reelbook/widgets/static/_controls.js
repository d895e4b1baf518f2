// What the controls of one clip and of many have in common: time line, frames, speeds, full screen, and their keys.
import { h, plainButton, setText } from "./_dom.js";

const SPEEDS = [0.25, 0.5, 0.75, 1, 1.5, 2];

/** Sets a trait. Without a kernel nobody listens, and the page goes on by what it set. */
export function keepTrait(model, name, value) {
  if (JSON.stringify(model.get(name)) === JSON.stringify(value)) return;
  model.set(name, value);
  try { model.save_changes(); } catch { /* as above */ }
}

/**
 * A line that shows the time and is dragged to another one; while it is held the clips rest.
 * @param {(at: number) => void} seek in seconds
 * @param {(rests: boolean) => void} rest
 */
export function timeLine(seek, rest) {
  const range = { min: 0, max: 1, step: "any", value: 0 };
  const time = h("input", { type: "range", class: "rb-time", "aria-label": "Time", ...range });
  const line = h("span", { class: "rb-line" }, time);
  const said = h("span", { class: "rb-said" });
  time.addEventListener("input", () => seek(Number(time.value)));
  time.addEventListener("pointerdown", () => rest(true));
  for (const kind of ["pointerup", "pointercancel", "change"]) time.addEventListener(kind, () => rest(false));
  return {
    time, line, said,
    draw(at, length, words = `${at.toFixed(1)} of ${length.toFixed(1)} s`) {
      if (Number(time.max) !== (length || 1)) time.max = length || 1;
      time.value = at;
      line.style.setProperty("--rb-at", length && at / length);
      setText(said, length ? words : "");
    },
  };
}

/** The middle of a frame so many further on: the edges of frames are rounded in the file. */
export const frameFrom = (at, frames, fps) => (Math.floor(at * fps + 0.02) + frames + 0.5) / fps;

/** Arrow keys that move by a second, with Shift by a tenth of it. */
export function hopKeys(at, seek) {
  const hop = (way) => (event) => seek(at() + way * (event.shiftKey ? 0.1 : 1));
  return { ArrowLeft: hop(-1), ArrowRight: hop(1) };
}

/**
 * The choice of the trait `speed`; one that Python set is offered, too.
 * @param {(speed: number) => void} apply
 * @returns {{select: HTMLSelectElement, keys: Record<string, () => void>, follow: () => void}}
 */
export function speedChoice(frame, model, apply) {
  const keep = (value) => keepTrait(model, "speed", Number(value));
  const select = h("select", { "aria-label": "Speed", title: "Speed (< >)", onchange: () => keep(select.value) });
  const step = (way) => () => {
    const now = model.get("speed");
    keep(SPEEDS.filter((one) => way * (one - now) > 0).sort((a, b) => way * (a - b))[0] ?? now);
  };
  const follow = () => frame.draw(["speed"], () => {
    const now = model.get("speed");
    const all = [...new Set([...SPEEDS, now])].sort((a, b) => a - b);
    select.replaceChildren(...all.map((one) => h("option", { value: one, selected: one === now }, `${one}×`)));
    apply(now);
  });
  return { select, keys: { "<": step(-1), ">": step(1) }, follow };
}

/** What fills the screen with `wrap`, and its button where it can: a page in a frame may not, and phones don't. */
export function fullScreen(wrap) {
  const leave = () => document.exitFullscreen();
  const toggle = () => document.fullscreenElement ? leave() : wrap.requestFullscreen().catch(() => {});
  const words = { class: "rb-tool", "aria-label": "Full screen", title: "Full screen (f)" };
  const buttons = document.fullscreenEnabled ? [plainButton(h("i", { class: "rb-i-full" }), toggle, words)] : [];
  return { toggle, buttons };
}

/**
 * Keys that work anywhere in `wrap`, except where a person types or chooses.
 * @param {Record<string, (event: KeyboardEvent) => void>} keys
 * @returns {() => void} ends it
 */
export function clipKeys(wrap, keys) {
  const onKey = (event) => {
    const { target, key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (target.closest("select, textarea, input:not([type]), [type=text], [type=search]")) return;
    if (key === " " && target.tagName === "BUTTON") return;
    if (key.startsWith("Arrow") && target.matches("[type=range]:not(.rb-time)")) return;
    if (!Object.hasOwn(keys, key)) return;
    event.preventDefault();
    event.stopPropagation();
    keys[key](event);
  };
  wrap.addEventListener("keydown", onKey);
  return () => wrap.removeEventListener("keydown", onKey);
}
