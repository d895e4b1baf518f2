// Clips side by side on one clock: a grid, and for two of them a divider or their difference; to pick among them.
import {
  drawProgress, focusedNode, foldButton, h, plainButton, progressBar, setText, showText, takeFocus, tell,
} from "./_dom.js";
import { tellWhenLeft } from "./_left.js";
import { countingLines, panel } from "./_live.js";
import { clipKeys, fullScreen, hopKeys } from "./_controls.js";
import { clockDeck } from "./_deck.js";
import { clipsInView, loadClip, releaseClip, silentVideo } from "./_fetch.js";
import { posters } from "./_posters.js";

const VIEWS = { grid: "Grid", wipe: "Wipe", difference: "Difference" };

/**
 * A clip of reelbook.text.compare; what differs from the others' is true.
 * @typedef {Array<[string, boolean]>} Runs
 * @typedef {{prompt: Runs, facts: Runs, money: Runs, word: string, tone: string, note: string, bar: number | null,
 *   stage: string, lines: import("./_live.js").Line[], clip: number, key: string, name: string, ended: string,
 *   shape: [number, number], seconds: number, fps: number, codec: string}} Tile `name`: what `picked` calls it
 */

/** @param {Runs} runs */
const marked = (runs) => runs.map(([text, differs]) => differs ? h("mark", {}, text) : text);

/** One clip of the comparison: its place, caption and video. `pick` is called when that is pressed. */
function openTile(frame, model, place, pick, changed) {
  const image = h("img", { alt: "", hidden: true });
  const words = h("span", { class: "rb-stage-text" });
  const corner = h("span", { class: "rb-number" });
  const cell = h("div", { class: "rb-cell" }, words, image, corner);
  const prompt = h("p", { class: "rb-prompt" });
  const state = h("span", { class: "rb-chip" });
  const bar = progressBar();
  const note = h("div", { class: "rb-note" });
  const running = h("div", { class: "rb-lines rb-quiet" });
  const facts = h("div", { class: "rb-lines" });
  const money = h("span", { class: "rb-money" });
  const picks = plainButton("", pick);
  const figure = h("figure", { class: "rb-tile" }, cell, h("figcaption", {}, prompt,
    h("div", { class: "rb-meta" }, facts, money), state, bar, running, note, h("div", { class: "rb-pick" }, picks)));
  const drawLines = countingLines(frame, running);
  /** @returns {Tile} */
  const tile = () => model.get("tiles")[place];
  let shown = 0;
  let asked = false;
  const one = { figure, cell, timed: null, tile };
  const say = (text) => {
    setText(words, text);
    words.className = one.timed && text ? "rb-stage-words" : "rb-stage-text";
  };
  one.draw = () => {
    const now = tile();
    prompt.replaceChildren(...marked(now.prompt));
    facts.replaceChildren(...now.facts.map((run) => h("span", {}, ...marked([run]))));
    money.replaceChildren(...marked(now.money));
    showText(state, now.word);
    state.className = `rb-chip rb-${now.tone}`;
    showText(note, now.note);
    note.className = `rb-note rb-${now.tone}`;
    drawProgress(bar, now.bar);
    drawLines(now.lines);
    running.hidden = !now.lines.length;
    cell.classList.toggle("rb-blank", !now.clip);
    if (now.clip !== shown) {
      one.free();
      asked = false;
      shown = now.clip;
    }
    if (!asked) say(now.clip ? "" : now.stage);
    if (now.clip) one.pictures.show(image, now.key);
    const picked = model.get("picked").includes(now.name);
    figure.classList.toggle("rb-picked", picked);
    picks.hidden = !now.clip || !now.name;
    setText(picks, picked ? "★ Picked" : "☆ Pick");
    picks.setAttribute("aria-label", `${picked ? "Picked" : "Pick"}: clip ${place + 1}`);
    picks.setAttribute("aria-pressed", String(picked));
  };
  one.load = async () => {
    if (asked || !tile().clip) return;
    asked = true;
    const mine = shown;
    try {
      const blob = await loadClip(frame, model, say, tile().key);
      if (mine !== shown || !asked || !figure.isConnected) return;
      const video = silentVideo(blob, { "aria-label": `Clip ${place + 1}: ${prompt.textContent}` });
      const { seconds, fps, codec } = tile();
      const cannotShow = () => video.src && say(`This browser can't show the clip's codec (${codec}).`);
      video.addEventListener("error", cannotShow);
      video.addEventListener("loadedmetadata", () => {
        if (!video.videoWidth) cannotShow();
        changed(one);
      }, { once: true });
      video.addEventListener("loadeddata", () => { image.style.visibility = "hidden"; }, { once: true });
      one.timed = { video, seconds, fps };
      image.after(video);
    } catch (error) {
      say(error.message);
      asked = false;
    }
  };
  one.free = () => {
    asked = false;
    if (!one.timed) return;
    const { video } = one.timed;
    one.timed = null;
    releaseClip(video);
    video.remove();
    image.style.visibility = "";
  };
  one.showTime = (at) => {
    const { ended, seconds } = tile();
    setText(corner, ended && at >= seconds ? `${place + 1} · ${ended}` : String(place + 1));
  };
  return one;
}

export default panel("compare", "Compare", (frame, model) => {
  const get = (name) => model.get(name);
  const pictures = posters(frame, model);
  const pick = (place) => {
    const { clip, name } = get("tiles")[place] || {};
    if (!clip || tell(model, { name: "pick", place, picked: !get("picked").includes(name) })) return;
    frame.showMessage({ text: "The kernel keeps the picks; run the cell again.", tone: "problem" });
  };
  const count = get("tiles").length;
  const two = count === 2;
  const ones = Array.from({ length: count }, (_, place) => openTile(frame, model, place, () => pick(place), joined));
  for (const one of ones) one.pictures = pictures;
  const loaded = () => ones.filter((one) => one.timed?.video.readyState).map((one) => one.timed);

  // The deck
  const deck = clockDeck(frame, model, {
    clips: loaded,
    onTime: (at) => {
      for (const one of ones) one.showTime(at);
      drawDifference();
    },
    fps: () => Math.max(...get("tiles").map((tile) => tile.fps)),
  });
  const { clock, keep, seek, toggle } = deck;
  const picks = Object.entries(VIEWS).map(([name, label]) => plainButton(label, () => keep("view", name)));
  const views = h("span", { class: "rb-group", role: "group", "aria-label": "View", hidden: !two }, ...picks);
  const brighter = plainButton("Brighter ×4", () => {
    bright = !bright;
    draw();
  }, { title: "Small differences, four times as bright", hidden: true });
  const help = h("p", { hidden: true });
  const showHelp = foldButton("Shortcuts", help, { title: "What the keys do (?)" });
  const lengths = h("p");
  const alone = h("p");
  const foot = h("div", { class: "rb-foot" }, alone, lengths, help);
  const grid = h("div", { class: "rb-tiles" }, ...ones.map((one) => one.figure));
  const wrap = h("div", { class: "rb-compare" });
  const full = fullScreen(wrap);
  wrap.append(grid,
    h("div", { class: "rb-deck" }, ...deck.parts, brighter, views, ...full.buttons, showHelp, frame.badge), foot);
  frame.body.append(wrap);

  function joined(one) {
    clock.join(one.timed);
    one.timed.video.addEventListener("click", toggle);
    // A loaded clip may still be too early to be drawn, so it is drawn again when its frame is shown.
    const again = () => deck.draw();
    one.timed.video.addEventListener("loadeddata", () => {
      again();
      one.timed.video.requestVideoFrameCallback?.(again);
    });
  }

  // Two over each other
  let bright = false;
  const canvas = h("canvas", { role: "img", "aria-label": "Where the two clips differ; black is the same" });
  const slides = { role: "slider", tabindex: 0, "aria-valuemin": 0, "aria-valuemax": 100 };
  const divider = h("div", { class: "rb-divider", "aria-label": "Divider", ...slides });
  let divided = 50;
  const divide = (percent) => {
    divided = Math.max(0, Math.min(100, percent));
    grid.style.setProperty("--rb-at", `${divided}%`);
    divider.setAttribute("aria-valuenow", Math.round(divided));
    const words = `${Math.round(divided)} % clip 1, ${Math.round(100 - divided)} % clip 2`;
    divider.setAttribute("aria-valuetext", words);
  };
  const dragged = (event) => {
    const { left, width } = ones[1].cell.getBoundingClientRect();
    divide(((event.clientX - left) / width) * 100);
  };
  divider.addEventListener("pointerdown", (event) => {
    divider.setPointerCapture(event.pointerId);
    dragged(event);
  });
  divider.addEventListener("pointermove", (event) => divider.hasPointerCapture(event.pointerId) && dragged(event));
  divider.addEventListener("keydown", (event) => {
    const by = event.shiftKey ? 10 : 2;
    const [less, more] = [divided - by, divided + by];
    const to = { ArrowLeft: less, ArrowDown: less, ArrowRight: more, ArrowUp: more, Home: 0, End: 100 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    divide(to);
  });
  const drawDifference = () => {
    if (!canvas.isConnected || loaded().length < 2) return;
    const [a, b] = loaded().map(({ video }) => video);
    const width = a.videoWidth, height = a.videoHeight;
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const paper = canvas.getContext("2d");
    paper.globalCompositeOperation = "copy";
    paper.drawImage(a, 0, 0);
    paper.globalCompositeOperation = "difference";
    const scale = Math.min(width / b.videoWidth, height / b.videoHeight);
    const [wide, high] = [b.videoWidth * scale, b.videoHeight * scale];
    paper.drawImage(b, (width - wide) / 2, (height - high) / 2, wide, high);
    paper.globalCompositeOperation = "lighter";
    if (bright) for (let twice = 0; twice < 2; twice += 1) paper.drawImage(canvas, 0, 0);
  };

  const draw = () => {
    const tiles = get("tiles");
    const view = two ? get("view") : "grid";
    for (const one of ones) one.draw();
    const ratios = tiles.map(({ shape: [width, height] }) => width / height);
    const [least, most] = [Math.min(...ratios), Math.max(...ratios)];
    // Clips of one shape fill their cells; clips of several shapes are letterboxed in equal cells.
    const alike = view !== "grid" || most / least < 1.02;
    const ratio = alike ? ratios[0] : Math.max(1, Math.min(most, 4 / 3));
    const columns = count < 5 && count !== 3 ? 2 : 3;
    grid.style.cssText = `--rb-columns: ${columns}; --rb-shape: ${ratio}; --rb-ratio: ${ratio}`;
    grid.classList.toggle("rb-over", view !== "grid");
    grid.classList.toggle("rb-wipe", view === "wipe");
    picks.forEach((made, place) => made.setAttribute("aria-pressed", String(Object.keys(VIEWS)[place] === view)));
    for (const [part, name] of [[divider, "wipe"], [canvas, "difference"]]) {
      // Put in only once: taken out and put back it would lose the keyboard's focus.
      if (view !== name) part.remove();
      else if (!part.parentElement) ones[1].cell.append(part);
    }
    brighter.hidden = view !== "difference";
    brighter.setAttribute("aria-pressed", String(bright));
    if (two) divide(divided);
    clock.setLength(Math.max(...tiles.map((tile) => tile.seconds)));
    const none = !tiles.some((tile) => tile.clip);
    deck.play.disabled = none;
    const { picks: unknown, lengths: uneven, keys } = get("face");
    setText(help, keys);
    showText(alone, unknown);
    showText(lengths, none ? "The clips can be played when they are there." : uneven);
    if (inView.seen()) load();
    deck.draw();
  };

  const load = () => {
    inView.hold();
    for (const one of ones) one.load();
  };
  const inView = clipsInView(frame, wrap, {
    onSeen(seen) {
      clock.rest(!seen);
      if (seen) load();
    },
    free: () => ones.forEach((one) => one.free()),
  });

  const keys = {
    ...deck.keys, ...hopKeys(clock.at, seek),
    f: full.toggle,
    "?": () => showHelp.click(),
    Escape: () => help.hidden ? focusedNode().blur() : showHelp.click(),
  };
  for (let place = 0; place < count; place += 1) keys[place + 1] = () => pick(place);
  clipKeys(wrap, keys);

  // Traits, both ways
  frame.draw(["tiles", "face", "picked", "view"], draw);
  frame.listen("change:picked", () => frame.say(`${get("picked").length} picked.`));
  deck.follow();
  takeFocus(frame, deck.play);
  tellWhenLeft(frame, model);
});
