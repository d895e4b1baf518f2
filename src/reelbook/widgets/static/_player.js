// The controls of every clip: play, a time line, the time, full screen, and their keys. The Player adds more.
import { h, plainButton } from "./_dom.js";
import { clipKeys, frameFrom, fullScreen, hopKeys, timeLine } from "./_controls.js";

/**
 * Controls for `video`, with keys that work anywhere in `wrap`. There is no mute: the service's clips have no sound.
 * @param {{want: (plays: boolean) => void, rest: (rests: boolean) => void, fps: () => number}} about
 */
export function playerBar(video, wrap, about) {
  const seek = (at) => {
    if (video.duration) video.currentTime = Math.min(Math.max(0, at), video.duration - 0.5 / about.fps());
  };
  const step = (frames) => {
    about.want(false);
    seek(frameFrom(video.currentTime, frames, about.fps()));
  };
  const icon = h("i");
  const toggle = () => about.want(video.paused);
  const play = plainButton(icon, toggle, { class: "rb-tool" });
  const { time, line, said, draw: drawTime } = timeLine(seek, about.rest);
  const full = fullScreen(wrap);
  const bar = h("div", { class: "rb-player" }, play, line, said, ...full.buttons);
  const listeners = [];
  const draw = () => {
    const length = video.duration;
    if (!length) return;
    drawTime(video.currentTime, length);
    for (const listener of listeners) listener(video.currentTime);
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
  const hops = hopKeys(() => video.currentTime, seek);
  const keys = { " ": toggle, ...hops, ",": () => step(-1), ".": () => step(1), f: full.toggle };
  const end = clipKeys(wrap, keys);
  video.addEventListener("click", toggle);
  video.addEventListener("timeupdate", draw); // also in a browser that tells of no frames
  for (const kind of ["play", "pause", "seeked", "loadedmetadata"]) video.addEventListener(kind, state);
  state();
  follow();
  return { bar, line, keys, seek, step, onTime: (listener) => listeners.push(listener), end };
}
