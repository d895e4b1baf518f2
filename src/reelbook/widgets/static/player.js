// One clip: the card without a job, more controls under the slim ones, and three views.
import { ask, focusedNode, foldButton, h, plainButton, tell } from "./_dom.js";
import { panel } from "./_live.js";
import { clipCard } from "./_card.js";
import { keepTrait, speedChoice } from "./_controls.js";

const TILES = 16; // 4 by 4 they have the clip's own shape
const VIEWS = { clip: "Clip", poster: "Poster", filmstrip: "Filmstrip" };
const HELP = "Space plays and pauses. ← and → move by 1 s, with Shift by 0.1 s; , and . move by a frame. "
  + "[ and ] begin and end the loop where the clip is. < and > change the speed. f fills the screen, Escape leaves.";

export default panel("player", "Player", (frame, model) => {
  const get = (name) => model.get(name);
  const keep = (name, value) => keepTrait(model, name, value);
  let told = null;
  const act = (name) => tell(model, { name, picked: !get("face").picked });
  const card = clipCard(frame, model, () => get("face"), act, (plays) => {
    told = plays;
    keep("playing", plays);
    if (!plays) keep("time", player.video.currentTime);
  });
  const player = card.player();
  const { video, line, keys, seek, step } = player;

  const setPressed = (made, value) => made.setAttribute("aria-pressed", String(value));
  const speed = speedChoice(frame, model, (now) => { video.playbackRate = video.defaultPlaybackRate = now; });
  speed.follow();

  // The loop and its two ends
  const slides = { type: "range", class: "rb-end", min: 0, step: 0.05, hidden: true };
  const mark = (name) => h("input", { ...slides, "aria-label": name });
  const ends = [mark("Loop begins"), mark("Loop ends")];
  const band = h("span", { class: "rb-band", hidden: true });
  line.prepend(band);
  line.append(...ends);
  const setRange = (from, to) => {
    const length = video.duration || 0;
    const round = (at) => Math.round(at * 1000) / 1000;
    const least = Math.min(0.1, length / 2);
    const begin = Math.max(0, Math.min(from, length - least));
    if (length) keep("loop_range", [round(begin), round(Math.min(length, Math.max(to, begin + least)))]);
  };
  const range = () => get("loop_range");
  const beginHere = () => setRange(video.currentTime, range()?.[1] ?? video.duration);
  const endHere = () => setRange(Math.min(range()?.[0] ?? 0, video.currentTime - 0.1), video.currentTime);
  const loop = plainButton("Loop", () => keep("loop", !get("loop")));
  const whole = plainButton("Whole", () => {
    keep("loop_range", null);
    loop.focus();
  }, { title: "Loop the whole clip" });
  const drawRange = () => {
    const part = range();
    const length = video.duration || get("face").seconds;
    setPressed(loop, get("loop"));
    video.loop = get("loop") && !part;
    whole.hidden = band.hidden = !part;
    ends.forEach((end, place) => {
      end.hidden = !part;
      end.max = length;
      if (part) end.value = part[place];
      if (part) end.setAttribute("aria-valuetext", `${part[place].toFixed(1)} s`);
    });
    if (part) band.style.cssText = `--rb-a: ${part[0] / length}; --rb-b: ${Math.min(1, part[1] / length)}`;
  };
  ends.forEach((end, place) => end.addEventListener("input", () => {
    const at = Number(end.value);
    if (place) setRange(Math.min(range()[0], at - 0.1), at);
    else setRange(at, Math.max(range()[1], at + 0.1));
    drawRange();
  }));
  frame.draw(["loop", "loop_range"], drawRange);
  player.onTime((at) => {
    const part = range();
    if (!part || video.paused || (at >= part[0] - 0.05 && at < part[1])) return;
    if (!get("loop") && at >= part[1]) player.want(false);
    else seek(part[0]);
  });
  // In the capture phase, before other listeners: a part that was played to its end begins again.
  video.addEventListener("play", () => {
    if (range() && video.currentTime >= range()[1] - 0.05) seek(range()[0]);
  }, { capture: true });

  // Clip, poster or filmstrip
  const asked = {};
  const urls = [];
  /** The kernel's picture of that name, asked for once. */
  const picture = (of) => asked[of] ??= ask(frame, model, { name: "picture", of, tiles: TILES }).then((answer) => {
    if (!answer) {
      frame.showMessage({ text: "The pictures are made by the kernel; run the cell again.", tone: "problem" });
    }
    if (!answer?.buffers.length) return "";
    urls.push(URL.createObjectURL(new Blob([answer.buffers[0]], { type: "image/jpeg" })));
    return urls.at(-1);
  });
  frame.onClose(() => urls.forEach((url) => URL.revokeObjectURL(url)));
  const tile = (node, place) => {
    node.style.backgroundPosition = `${(place / (TILES - 1)) * 100}% 0`;
    picture("filmstrip").then((url) => { if (url) node.style.backgroundImage = `url(${url})`; });
    return node;
  };
  const stage = video.parentElement;
  const poster = h("img", { class: "rb-still rb-view", alt: "Poster", hidden: true });
  const strip = h("div", { class: "rb-strip rb-view", role: "group", "aria-label": "Filmstrip", hidden: true });
  stage.append(poster, strip);
  const picks = Object.entries(VIEWS).map(([name, label]) => plainButton(label, () => keep("view", name)));
  const stripTile = (_, place) => {
    const at = ((place + 0.5) * get("face").seconds) / TILES;
    const go = () => {
      seek(at);
      keep("view", "clip");
      picks[0].focus();
    };
    const text = `${at.toFixed(1)} s`;
    const button = h("button", { type: "button", "aria-label": `Go to ${text}`, onclick: go }, h("span", {}, text));
    return tile(button, place);
  };
  frame.draw(["view"], () => {
    const view = get("view");
    picks.forEach((pick, place) => setPressed(pick, Object.keys(VIEWS)[place] === view));
    poster.hidden = view !== "poster";
    strip.hidden = view !== "filmstrip";
    video.style.visibility = view === "clip" ? "" : "hidden";
    player.rest(view !== "clip");
    if (view === "poster") picture("poster").then((url) => { if (url) poster.src = url; });
    if (view === "filmstrip" && !strip.children.length) {
      strip.append(...Array.from({ length: TILES }, stripTile));
    }
  });

  // A small picture above the time line, of the moment under the pointer
  const glimpse = h("span", { class: "rb-glimpse", hidden: true });
  line.append(glimpse);
  line.addEventListener("pointermove", (event) => {
    const { left, width } = line.getBoundingClientRect();
    const share = Math.min(0.999, Math.max(0, (event.clientX - left) / width));
    tile(glimpse, Math.floor(share * TILES));
    glimpse.hidden = false;
    const wide = glimpse.offsetWidth;
    glimpse.style.left = `${Math.min(width - wide, Math.max(0, share * width - wide / 2))}px`;
  });
  line.addEventListener("pointerleave", () => { glimpse.hidden = true; });

  const help = h("p", { class: "rb-help", hidden: true }, HELP);
  const showHelp = foldButton("Shortcuts", help, { title: "What the keys do (?)" });
  const frames = h("span", { class: "rb-group" },
    plainButton("‹ Frame", () => step(-1), { "aria-label": "Frame back" }),
    plainButton("Frame ›", () => step(1), { "aria-label": "Frame forward" }));
  const loops = h("span", { class: "rb-group" }, loop,
    plainButton("From here", beginHere, { title: "Loop from here ([)" }),
    plainButton("To here", endHere, { title: "Loop to here (])" }), whole);
  const pickers = h("span", { class: "rb-group", role: "group", "aria-label": "View" }, ...picks);
  player.bar.append(showHelp);
  player.bar.after(help, h("div", { class: "rb-tools" }, frames, speed.select, loops, pickers));
  Object.assign(keys, {
    ...speed.keys,
    "[": beginHere,
    "]": endHere,
    "?": () => showHelp.click(),
    Escape: () => help.hidden ? focusedNode().blur() : showHelp.click(),
  });

  // Traits, both ways
  video.addEventListener("loadedmetadata", drawRange);
  for (const [node, kind] of [[video, "play"], [line, "input"]]) {
    node.addEventListener(kind, () => keep("view", "clip"));
  }
  video.addEventListener("seeked", () => video.paused && keep("time", video.currentTime));
  // The kernel is told four times a second only where somebody in it listens.
  video.addEventListener("timeupdate", () => get("reports_time") && !video.paused && keep("time", video.currentTime));
  frame.listen("change:time", () => {
    // A time that the playing clip itself reported a moment ago isn't a request to go back.
    if (Math.abs(video.currentTime - get("time")) > (video.paused ? 0.001 : 0.3)) player.go(get("time"));
  });
  // Only what the kernel set: the page's own report would end the poster or the filmstrip.
  frame.listen("change:playing", () => get("playing") !== told && player.want(get("playing")));
});
