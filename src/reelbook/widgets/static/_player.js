// The controls of every clip: play, a time line, the time, full screen, and their keys. The Player adds more.
import { h, setText } from "./_dom.js";

/**
 * Controls for `video`, with keys that work anywhere in `wrap`. There is no mute: the service's clips have no sound.
 * @param {{want: (plays: boolean) => void, rest: (rests: boolean) => void, fps: () => number}} about
 */
export function playerBar(video, wrap, about) {
  const icon = h("i");
  const toggle = () => about.want(video.paused);
  const play = h("button", { type: "button", class: "rb-tool", onclick: toggle }, icon);
  const time = h("input", { type: "range", class: "rb-time", min: 0, max: 1, step: "any", value: 0, "aria-label": "Time" });
  const line = h("span", { class: "rb-line" }, time);
  const said = h("span", { class: "rb-said" });
  const bar = h("div", { class: "rb-player" }, play, line, said);
  const listeners = [];
  const full = () => document.fullscreenElement ? document.exitFullscreen() : wrap.requestFullscreen().catch(() => {});
  // A page in a frame may not be allowed to; phones can't.
  if (document.fullscreenEnabled) bar.append(h("button", { type: "button", class: "rb-tool", "aria-label": "Full screen", title: "Full screen (f)", onclick: full }, h("i", { class: "rb-i-full" })));
  const draw = () => {
    const length = video.duration;
    if (!length) return;
    const at = video.currentTime;
    time.max = length;
    time.value = at;
    line.style.setProperty("--rb-at", at / length);
    setText(said, `${at.toFixed(1)} of ${length.toFixed(1)} s`);
    for (const listener of listeners) listener(at, length);
  };
  // Once for each frame of the clip: once for each of the screen's would cost three times as much.
  const follow = () => {
    draw();
    video.requestVideoFrameCallback?.(follow);
  };
  const state = () => {
    draw();
    const word = video.paused ? "Play" : "Pause";
    play.setAttribute("aria-label", word);
    play.title = `${word} (space)`;
    icon.className = `rb-i-${word.toLowerCase()}`;
    time.setAttribute("aria-valuetext", said.textContent);
  };
  // Aims at the middle of a frame: its edges are rounded in the file.
  const seek = (at) => { if (video.duration) video.currentTime = Math.min(Math.max(0, at), video.duration - 0.5 / about.fps()); };
  const step = (frames) => {
    about.want(false);
    seek((Math.floor(video.currentTime * about.fps() + 0.02) + frames + 0.5) / about.fps());
  };
  const hop = (way) => (event) => seek(video.currentTime + way * (event.shiftKey ? 0.1 : 1));
  const keys = { " ": toggle, ArrowLeft: hop(-1), ArrowRight: hop(1), ",": () => step(-1), ".": () => step(1), f: full };
  const onKey = (event) => {
    const { target, key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || target.tagName === "SELECT") return;
    if ((key === " " && target.tagName === "BUTTON") || (target.type === "range" && target !== time && key.startsWith("Arrow"))) return;
    if (!Object.hasOwn(keys, key)) return;
    event.preventDefault();
    event.stopPropagation();
    keys[key](event);
  };
  wrap.addEventListener("keydown", onKey);
  time.addEventListener("input", () => seek(Number(time.value)));
  time.addEventListener("pointerdown", () => about.rest(true));
  for (const kind of ["pointerup", "pointercancel", "change"]) time.addEventListener(kind, () => about.rest(false));
  video.addEventListener("click", toggle);
  video.addEventListener("timeupdate", draw); // also in a browser that tells of no frames
  for (const kind of ["play", "pause", "seeked", "loadedmetadata"]) video.addEventListener(kind, state);
  state();
  follow();
  return { bar, line, keys, seek, step, onTime: (listener) => listeners.push(listener), end: () => wrap.removeEventListener("keydown", onKey) };
}
