// A saved matrix: the clips are in the page itself, and play together without a network or a kernel.
import { h, plainButton } from "./_dom.js";
import { clipKeys } from "./_controls.js";
import { clockDeck } from "./_deck.js";
import { releaseClip } from "./_fetch.js";

const root = document.querySelector(".rb");
const values = { time: 0, playing: false, speed: 1 };
const listeners = [];
const model = {
  get: (name) => values[name],
  set: (name, value) => { values[name] = value; },
  save_changes: () => listeners.forEach((listener) => listener()),
};
const frame = {
  draw(names, callback) {
    listeners.push(callback);
    callback();
  },
  onClose: () => {},
};
const clips = [...root.querySelectorAll("video")].map((video) => (
  { video, seconds: Number(video.dataset.seconds), fps: Number(video.dataset.fps) }
));
const shown = new Set();
const deck = clockDeck(frame, model, {
  clips: () => [...shown].filter(({ video }) => video.readyState),
  onTime: () => {},
  fps: () => Math.max(24, ...clips.map(({ fps }) => fps)),
});
const part = plainButton("End together", () => {
  const by = part.getAttribute("aria-pressed") === "false";
  part.setAttribute("aria-pressed", String(by));
  deck.clock.setByPart(by);
}, { "aria-pressed": "false" });
root.append(h("div", { class: "rb-deck" }, ...deck.parts, part));
clipKeys(document.body, deck.keys);
deck.clock.setLength(Math.max(0, ...clips.map(({ seconds }) => seconds)));
deck.follow();
deck.draw();
for (const one of clips) one.video.addEventListener("loadedmetadata", () => deck.clock.join(one));
// Only what is in view is decoded.
const near = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    const one = clips.find(({ video }) => video === target);
    if (isIntersecting === shown.has(one)) continue;
    if (isIntersecting) {
      shown.add(one);
      target.src = target.dataset.clip;
    } else {
      shown.delete(one);
      releaseClip(target);
    }
  }
});
for (const { video } of clips) near.observe(video);
