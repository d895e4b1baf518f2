// Clips side by side on one clock: a grid, and for two of them a divider or their difference. One of them may win.
import { h, openPanel, setText, tell } from "./_dom.js";
import { tellWhenLeft } from "./_left.js";
import { countingLines, keepAsking } from "./_live.js";
import { clockDeck, deckKeys } from "./_deck.js";
import { ON_DISK, fetchClip, hold, letGo } from "./_fetch.js";
import { posters } from "./_posters.js";

const VIEWS = { grid: "Grid", wipe: "Wipe", difference: "Difference" };

/** Runs of text; what differs is marked. @param {Array<[string, boolean]>} runs */
const marked = (runs) => runs.map(([text, differs]) => differs ? h("mark", {}, text) : text);
const button = (label, title, act, more = {}) => h("button", { type: "button", class: "rb-plain", title: title || null, onclick: act, ...more }, label);

/** One clip of the comparison: its place, caption and video. `pick` is called when it is picked. */
function openTile(frame, model, place, pick, changed) {
  const image = h("img", { alt: "", hidden: true });
  const words = h("span", { class: "rb-stage-text" });
  const corner = h("span", { class: "rb-number" });
  const cell = h("div", { class: "rb-cell" }, words, image, corner);
  const prompt = h("p", { class: "rb-prompt" });
  const state = h("span", { class: "rb-chip" });
  const bar = h("div", { class: "rb-bar", role: "progressbar", "aria-label": "Progress", "aria-valuemin": 0, "aria-valuemax": 100 }, h("i"));
  const note = h("div", { class: "rb-note" });
  const running = h("div", { class: "rb-lines rb-quiet" });
  const facts = h("div", { class: "rb-lines" });
  const money = h("span", { class: "rb-money" });
  const wins = button("", "", pick);
  const figure = h("figure", { class: "rb-tile" }, cell, h("figcaption", {}, prompt,
    h("div", { class: "rb-meta" }, facts, money), state, bar, running, note, h("div", { class: "rb-pick" }, wins)));
  const drawLines = countingLines(frame, running);
  const tile = () => model.get("tiles")[place];
  let shown = 0;
  let asked = false;
  let url = "";
  const one = { figure, cell, timed: null, tile };
  const say = (text) => { setText(words, text); words.className = one.timed && text ? "rb-stage-words" : "rb-stage-text"; };
  one.draw = () => {
    const now = tile();
    prompt.replaceChildren(...marked(now.prompt));
    facts.replaceChildren(...now.facts.map((run) => h("span", {}, ...marked([run]))));
    money.replaceChildren(...marked(now.money));
    setText(state, now.word);
    state.className = `rb-chip rb-${now.tone}`;
    state.hidden = !now.word;
    setText(note, now.note);
    note.className = `rb-note rb-${now.tone}`;
    note.hidden = !now.note;
    bar.hidden = now.bar === null;
    bar.classList.toggle("rb-open", now.bar < 0);
    bar.firstElementChild.style.width = now.bar > 0 ? `${now.bar * 100}%` : "0";
    if (now.bar >= 0 && now.bar !== null) bar.setAttribute("aria-valuenow", Math.round(now.bar * 100));
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
    const won = Boolean(now.name) && model.get("winner") === now.name;
    figure.classList.toggle("rb-won", won);
    wins.hidden = !now.clip || !now.name;
    setText(wins, won ? "Winner" : "Keep this one");
    wins.setAttribute("aria-label", won ? `Clip ${place + 1} is the winner` : `Keep this one: clip ${place + 1}`);
    wins.setAttribute("aria-pressed", String(won));
  };
  one.load = async () => {
    if (asked || !tile().clip) return;
    asked = true;
    const mine = shown;
    const slow = setTimeout(() => say(ON_DISK), 8000);
    try {
      const blob = await fetchClip(frame, model, (done) => { clearTimeout(slow); say(done < 1 ? `Loading the clip: ${Math.floor(done * 100)} %` : ""); }, tile().key);
      if (mine !== shown || !asked || !figure.isConnected) return;
      const video = h("video", { playsinline: true, preload: "auto", "aria-label": `Clip ${place + 1}: ${prompt.textContent}` });
      video.muted = true;
      video.src = url = URL.createObjectURL(blob);
      const { seconds, fps, codec } = tile();
      const cannotShow = () => url && say(`This browser can't show the clip's codec (${codec}).`);
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
    } finally { clearTimeout(slow); }
  };
  one.free = () => {
    asked = false;
    if (!one.timed) return;
    const { video } = one.timed;
    one.timed = null;
    URL.revokeObjectURL(url);
    url = "";
    video.removeAttribute("src");
    video.load(); // or the decoder keeps the clip
    video.remove();
    image.style.visibility = "";
  };
  one.showTime = (at) => {
    const { ended, seconds } = tile();
    setText(corner, ended && at >= seconds ? `${place + 1} · ${ended}` : String(place + 1));
  };
  return one;
}

function render({ model, el }) {
  const frame = openPanel(model, el, "compare", "Compare");
  const get = (name) => model.get(name);
  const pictures = posters(frame, model);
  const pick = (place) => {
    if (!get("tiles")[place]?.clip) return;
    if (!tell(model, { name: "pick", place })) frame.showMessage({ text: "The kernel keeps the winner; run the cell again.", tone: "problem" });
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
  const picks = Object.entries(VIEWS).map(([name, label]) => button(label, "", () => keep("view", name)));
  const views = h("span", { class: "rb-group", role: "group", "aria-label": "View", hidden: !two }, ...picks);
  const brighter = button("Brighter ×4", "Small differences, four times as bright", () => { bright = !bright; draw(); }, { hidden: true });
  const badge = h("span", { class: "rb-badge" });
  const showHelp = button("Shortcuts", "What the keys do (?)", () => { help.hidden = !help.hidden; showHelp.setAttribute("aria-expanded", String(!help.hidden)); }, { "aria-expanded": "false" });
  const help = h("p", { hidden: true });
  const lengths = h("p");
  const winner = h("p");
  const foot = h("div", { class: "rb-foot" }, winner, lengths, help);
  const grid = h("div", { class: "rb-tiles" }, ...ones.map((one) => one.figure));
  const bar = h("div", { class: "rb-deck" }, ...deck.parts, brighter, views);
  const wrap = h("div", { class: "rb-compare" }, grid, bar, foot);
  const full = () => document.fullscreenElement ? document.exitFullscreen() : wrap.requestFullscreen().catch(() => {});
  // A page in a frame may not be allowed to; phones can't.
  if (document.fullscreenEnabled) bar.append(h("button", { type: "button", class: "rb-tool", "aria-label": "Full screen", title: "Full screen (f)", onclick: full }, h("i", { class: "rb-i-full" })));
  bar.append(showHelp, badge);
  frame.body.append(wrap);

  function joined(one) {
    clock.join(one.timed);
    one.timed.video.addEventListener("click", toggle);
    // A loaded clip may still be too early to be drawn, so it is drawn again when its frame is shown.
    const again = () => deck.draw();
    one.timed.video.addEventListener("loadeddata", () => { again(); one.timed.video.requestVideoFrameCallback?.(again); });
  }

  // Two over each other
  let bright = false;
  const canvas = h("canvas", { role: "img", "aria-label": "Where the two clips differ; black is the same" });
  const divider = h("div", { class: "rb-divider", role: "slider", tabindex: 0, "aria-label": "Divider", "aria-valuemin": 0, "aria-valuemax": 100 });
  let divided = 50;
  const divide = (percent) => {
    divided = Math.max(0, Math.min(100, percent));
    grid.style.setProperty("--rb-at", `${divided}%`);
    divider.setAttribute("aria-valuenow", Math.round(divided));
    divider.setAttribute("aria-valuetext", `${Math.round(divided)} % clip 1, ${Math.round(100 - divided)} % clip 2`);
  };
  const dragged = (event) => {
    const { left, width } = ones[1].cell.getBoundingClientRect();
    divide(((event.clientX - left) / width) * 100);
  };
  divider.addEventListener("pointerdown", (event) => { divider.setPointerCapture(event.pointerId); dragged(event); });
  divider.addEventListener("pointermove", (event) => divider.hasPointerCapture(event.pointerId) && dragged(event));
  divider.addEventListener("keydown", (event) => {
    const by = event.shiftKey ? 10 : 2;
    const to = { ArrowLeft: divided - by, ArrowDown: divided - by, ArrowRight: divided + by, ArrowUp: divided + by, Home: 0, End: 100 }[event.key];
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
    paper.drawImage(b, (width - b.videoWidth * scale) / 2, (height - b.videoHeight * scale) / 2, b.videoWidth * scale, b.videoHeight * scale);
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
    const ratio = view !== "grid" ? ratios[0] : most / least < 1.02 ? ratios[0] : Math.max(1, Math.min(most, 4 / 3));
    grid.style.cssText = `--rb-columns: ${count < 5 && count !== 3 ? 2 : 3}; --rb-shape: ${ratio}; --rb-ratio: ${ratio}`;
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
    deck.setLength(Math.max(...tiles.map((tile) => tile.seconds)));
    const none = !tiles.some((tile) => tile.clip);
    deck.play.disabled = none;
    const { mark, winner: won, lengths: uneven, keys } = get("face");
    setText(badge, mark);
    badge.hidden = !mark;
    setText(help, keys);
    setText(winner, won);
    setText(lengths, none ? "The clips can be played when they are there." : uneven);
    for (const part of [winner, lengths]) part.hidden = !part.textContent;
    if (seen) load();
    deck.draw();
  };

  // Loaded when seen; released at the end, or out of sight once many other clips are loaded.
  let seen = false;
  const load = () => {
    hold(held);
    for (const one of ones) one.load();
  };
  const held = { free: () => { if (!seen) ones.forEach((one) => one.free()); return !seen; } };
  const near = new IntersectionObserver((entries) => {
    seen = entries[entries.length - 1].isIntersecting;
    clock.rest(!seen);
    if (seen) load();
  });
  frame.onClose(() => {
    near.disconnect();
    letGo(held);
    ones.forEach((one) => one.free());
  });

  const hop = (way) => (event) => seek(clock.at() + way * (event.shiftKey ? 0.1 : 1));
  const keys = { ...deck.keys, ArrowLeft: hop(-1), ArrowRight: hop(1), f: full,
    "?": () => showHelp.click(), Escape: () => { help.hidden ? document.activeElement.blur() : showHelp.click(); } };
  for (let place = 0; place < count; place += 1) keys[place + 1] = () => pick(place);
  deckKeys(wrap, keys);

  // Traits, both ways
  frame.draw(["tiles", "face", "winner", "view"], draw);
  frame.listen("change:face", () => get("face").winner && frame.say(get("face").winner));
  deck.follow();
  near.observe(wrap);
  tellWhenLeft(frame, model);
  keepAsking(frame, model);
  return () => frame.close();
}

export default { render };
