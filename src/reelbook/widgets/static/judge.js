// Two clips without labels on one clock, and which of them is better; after Stop, what the votes say.
import { GONE, ask, focusedNode, h, isNew, plainButton, refill, setText, showText, takeFocus, tell } from "./_dom.js";
import { clipKeys } from "./_controls.js";
import { clockDeck } from "./_deck.js";
import { clipsInView, fetchClip, releaseClip, silentVideo } from "./_fetch.js";
import { tellWhenLeft } from "./_left.js";
import { panel } from "./_live.js";
import { posters } from "./_posters.js";

const WAYS = { ArrowLeft: "left", ArrowRight: "right", ArrowDown: "neither" };
const FETCHED = 12; // clips in the page's memory

/**
 * What the kernel tells: which clips are shown, by their keys, and after Stop what the votes say.
 * @typedef {{n: number, left: string, right: string}} Shown
 * @typedef {{key: string, label: string, facts: string, bar: number[], chance: string, interval: string,
 *   won: string}} Row `bar`: chance, low and high from 0 to 1; empty without votes
 * @typedef {{said: string, rows: Row[], findings: string[][], voters: string[][], of: string}} Result
 */

export default panel("judge", "Judge", (frame, model) => {
  const get = (name) => model.get(name);
  const press = (name, more) => tell(model, { name, ...more }) || frame.showMessage({ text: GONE, tone: "problem" });
  const judging = () => !get("result").rows;

  // What is asked
  const about = h("span", { class: "rb-quiet" });
  const said = h("span", { class: "rb-quiet rb-said" });
  const stop = plainButton("Stop", () => press("stop"));
  const sides = ["A", "B"].map((letter) => {
    const words = h("span", { class: "rb-stage-text" }, "Loading the clip");
    const node = h("div", { class: "rb-cell", onpointerdown: () => wrap.focus() }, words,
      h("span", { class: "rb-letter" }, letter));
    return { letter, words, node, one: null };
  });
  const question = h("p", { class: "rb-question" });
  const key = (text) => h("kbd", { "aria-hidden": "true" }, text);
  const answers = [
    plainButton("", () => vote("left"), { "aria-label": "A is better" }),
    plainButton("", () => vote("neither"), { "aria-label": "Can't say" }),
    plainButton("", () => vote("right"), { "aria-label": "B is better" }),
  ];
  answers[0].append(key("←"), "A");
  answers[1].append("Can't say", key("↓"));
  answers[2].append("B", key("→"));
  const deck = clockDeck(frame, model, {
    clips: () => sides.map(({ one }) => one).filter((one) => one?.video.readyState),
    onTime: () => {},
    fps: () => Math.max(24, ...sides.map(({ one }) => one?.fps || 0)),
  });
  const [play, , line, time] = deck.parts;
  const back = plainButton("Take back the last vote", () => press("take_back"), { title: "u" });
  const note = h("span", { class: "rb-quiet" });
  const voter = h("input", { type: "text", maxlength: 40, autocomplete: "off" });
  voter.addEventListener("change", () => deck.keep("voter", voter.value.trim()));
  const form = h("div", { class: "rb-ask" },
    h("div", { class: "rb-head" },
      h("b", {}, "Judge"), about, h("span", { class: "rb-facts" }, frame.badge, said, stop)),
    h("div", { class: "rb-pair" }, ...sides.map(({ node }) => node)),
    h("div", { class: "rb-vote" }, question, ...answers),
    h("div", { class: "rb-deck" }, play, line, time, back),
    h("div", { class: "rb-foot" }, note, h("label", {}, "Who votes", voter)));

  // What the votes say
  const legend = h("span", { class: "rb-quiet" });
  const whose = h("div", { class: "rb-group rb-seg", role: "group", "aria-label": "Whose votes" });
  const rows = h("tbody");
  const columns = ["Place", "Clip", "Prompt", "Wins"].map((name) => h("th", { scope: "col" }, name));
  const rank = h("table", { class: "rb-rank" }, h("thead", { class: "rb-hidden" }, h("tr", {}, ...columns)), rows);
  const findings = h("div");
  const goOn = plainButton("Go on judging", () => press("go_on"));
  const give = plainButton("Hand over", () => press("hand_over"));
  const pick = plainButton("Pick the first 2", () => press("pick"));
  const told = h("div", { class: "rb-told", hidden: true },
    h("div", { class: "rb-head" }, h("b", {}, "What the votes say"), legend, whose),
    rank, findings, h("div", { class: "rb-acts" }, pick, give, goOn));
  const wrap = h("div", { class: "rb-judge", tabindex: -1 }, form, told);
  frame.body.append(wrap);
  const pictures = posters(frame, model);

  // Clips, fetched before they are shown
  const blobs = new Map();
  const blobOf = (name) => {
    const known = blobs.get(name) || fetchClip(frame, model, () => {}, name);
    blobs.delete(name); // the newest stands last
    blobs.set(name, known);
    known.catch(() => blobs.delete(name));
    for (const old of blobs.keys()) if (blobs.size > FETCHED) blobs.delete(old);
    return known;
  };
  /** A video of that clip, once its first frame is there. */
  const open = async (name) => {
    const [, , seconds, fps, codec] = get("clips")[name];
    const video = silentVideo(await blobOf(name), {});
    const one = { video, seconds, fps };
    await new Promise((done, failed) => {
      const cannot = () => failed(new Error(`This browser can't show the clip's codec (${codec}).`));
      video.addEventListener("error", cannot, { once: true });
      video.addEventListener("loadeddata", () => (video.videoWidth ? done() : cannot()), { once: true });
    });
    return one;
  };
  let ready = 0; // the number of the pair that can be voted on
  let wanted = 0;
  let begun = false;
  const free = () => {
    ready = wanted = 0;
    for (const side of sides) {
      if (side.one) {
        releaseClip(side.one.video);
        side.one.video.remove();
      }
      side.one = null;
    }
  };
  const show = async () => {
    /** @type {Shown} */
    const pair = get("pair");
    if (!inView.seen() || !judging() || wanted === pair.n) return;
    wanted = pair.n;
    inView.hold();
    const opened = await Promise.allSettled([open(pair.left), open(pair.right)]);
    if (wanted !== pair.n || !wrap.isConnected) {
      for (const { value } of opened) if (value) releaseClip(value.video);
      return;
    }
    free(); // both change at once, and never half
    ready = wanted = pair.n;
    sides.forEach((side, place) => {
      const { value, reason } = opened[place];
      const [width, height] = get("clips")[pair[place ? "right" : "left"]];
      side.node.style.setProperty("--rb-shape", width / height);
      showText(side.words, reason?.message);
      if (!value) return;
      value.video.setAttribute("aria-label", `Clip ${side.letter}`);
      side.one = value;
      side.node.prepend(value.video);
      value.video.addEventListener("click", deck.toggle);
    });
    const ones = sides.map(({ one }) => one).filter(Boolean);
    deck.clock.setLength(Math.max(0, ...ones.map(({ seconds }) => seconds)));
    for (const one of ones) deck.clock.join(one);
    deck.clock.seek(0);
    for (const name of get("upcoming")) blobOf(name).catch(() => {});
  };
  const inView = clipsInView(frame, wrap, {
    onSeen(seen) {
      deck.clock.rest(!seen);
      if (!seen) return;
      if (!begun && !matchMedia("(prefers-reduced-motion: reduce)").matches) deck.keep("playing", true);
      begun = true;
      show();
    },
    free,
  });
  const vote = async (answer) => {
    if (!judging() || !ready || ready !== get("pair").n) return;
    const n = ready;
    ready = 0; // a second press isn't a vote on the next pair
    if (!await ask(frame, model, { name: "vote", n, answer })) frame.showMessage({ text: GONE, tone: "problem" });
    if (wanted === n && get("pair").n === n) ready = n; // it couldn't be kept
  };

  // Keys
  wrap.addEventListener("keydown", (event) => {
    if (!Object.hasOwn(WAYS, event.key) || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if (!judging() || event.target.matches("input")) return;
    event.preventDefault();
    event.stopPropagation();
    if (!event.repeat) vote(WAYS[event.key]);
  });
  clipKeys(wrap, {
    ...deck.keys,
    u: () => judging() && !back.disabled && press("take_back"),
    Escape: () => focusedNode().blur(),
  });

  // What the kernel tells
  frame.draw(["face"], () => {
    const now = get("face");
    setText(about, now.about);
    setText(said, now.said);
    setText(question, now.question);
    setText(note, now.note);
    back.disabled = !now.can_take_back;
    give.hidden = !now.hands_over;
    pick.hidden = !now.picks;
    if (judging()) frame.say(now.said);
  });
  frame.draw(["voter"], () => { if (focusedNode() !== voter) voter.value = get("voter"); });
  const bar = ([chance, low, high], label) => {
    const box = h("div", { class: "rb-iv", role: "img", "aria-label": label }, h("i"), h("b"));
    box.firstChild.style.width = `${100 * chance}%`;
    Object.assign(box.lastChild.style, { left: `${100 * low}%`, width: `${100 * (high - low)}%` });
    return box;
  };
  /** @param {Row} row */
  const drawRow = (row, place) => {
    const image = h("img", { alt: "" });
    const cell = h("div", { class: "rb-cell" }, image);
    const figures = row.bar.length
      ? [h("b", {}, row.chance), h("span", {}, row.interval), h("span", {}, row.won)] : [h("span", {}, "no votes yet")];
    const made = h("tr", {}, h("td", {}, place + 1), h("td", {}, cell),
      h("td", {}, row.label, row.bar.length ? bar(row.bar, `${row.chance}, 90 % interval ${row.interval}`) : "",
        row.facts ? h("small", {}, row.facts) : ""),
      h("td", { class: "rb-figures" }, ...figures));
    pictures.show(image, row.key);
    return made;
  };
  const drawResult = () => {
    /** @type {Result} */
    const now = get("result");
    const had = wrap.contains(focusedNode());
    const turned = told.hidden === Boolean(now.rows);
    form.hidden = !judging();
    told.hidden = judging();
    if (judging()) {
      for (const image of rows.querySelectorAll("img")) pictures.forget(image);
      rows.replaceChildren();
      delete rows.dataset.drawn;
      show();
    } else {
      setText(legend, now.said);
      if (isNew(rows, now.rows)) {
        for (const image of rows.querySelectorAll("img")) pictures.forget(image);
        rows.replaceChildren(...now.rows.map(drawRow));
      }
      refill(whose, now.voters.map(([name, label]) => plainButton(label, () => press("of", { voter: name }),
        { "aria-pressed": String(name === now.of), "data-of": name })));
      whose.hidden = !now.voters.length;
      findings.replaceChildren(...now.findings.map(([one, verb, other, rest]) =>
        h("p", { class: "rb-find" }, h("b", {}, one), ` ${verb} `, h("b", {}, other), `: ${rest}`)));
      if (turned) frame.say(findings.firstChild.textContent);
      free();
    }
    if (turned && had) (judging() ? wrap : goOn).focus();
  };
  frame.draw(["result"], drawResult);

  frame.listen("change:pair", show);
  deck.follow();
  takeFocus(frame, wrap);
  tellWhenLeft(frame, model);
});
