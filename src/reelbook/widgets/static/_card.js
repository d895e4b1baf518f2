// The card of a clip, the same in every panel: a stage in the clip's shape, prompt, state, figures, cost, actions.
import {
  drawProgress, filledButton, foldButton, h, isNew, pictureUrl, plainButton, progressBar, refill, restButton, setText,
  showText, starButton, tell,
} from "./_dom.js";
import { codeCopies, copyText } from "./_code.js";
import { countingLines } from "./_live.js";
import { clipPlayer } from "./_media.js";
import { savedField } from "./_typed.js";

/**
 * What reelbook.text.card composes.
 * @typedef {object} Face
 * @property {string} prompt
 * @property {string} word the state, in a word
 * @property {string} tone wait | run | done | fail | odd
 * @property {[number, number] | null} shape null: no stage
 * @property {string} stage what stands in the stage while there is no clip
 * @property {string} note
 * @property {string} aside
 * @property {"" | "open" | "figure"} bar open: running, with no figure
 * @property {string} money
 * @property {Array<[string, string]>} actions name and label; "code", "copy" and "save" are done here
 * @property {boolean | null} picked null: nobody could keep it
 * @property {string | null} remark the person's note; null: no place for one
 * @property {Array<[string, string]>} again what the action "again" opens, if it opens anything
 * @property {string} mark
 * @property {string} id
 * @property {number} clip 0: none yet; another number: another clip
 * @property {string} file
 * @property {string} codec
 * @property {number} fps frames a second
 */

/** Brings a card that a person opened into view. It jumps: some people want less motion. */
export function bringIntoView(box) {
  requestAnimationFrame(() => { // once it has its size; where it is too large, its clip
    for (const part of [box, box.querySelector(".rb-stage")]) {
      part.scrollIntoView({ block: "nearest", behavior: "instant" });
    }
  });
}

/**
 * @param {() => Face} face
 * @param {(name: string, button: HTMLButtonElement) => void} onAction
 * @param {(plays: boolean) => void} [onWant] called when the clip is to play or to pause
 */
export function clipCard(frame, model, face, onAction, onWant) {
  const mark = h("span", { class: "rb-corner" });
  const words = h("span", { class: "rb-stage-text" });
  const picture = h("img", { class: "rb-still", alt: "", hidden: true });
  const empty = h("div", { class: "rb-empty" }, picture, words);
  const star = starButton(() => onAction("pick", star));
  const stage = h("div", { class: "rb-stage" }, empty, mark, star);
  const badge = h("span", { class: "rb-badge" });
  const prompt = h("p", { class: "rb-prompt" });
  const state = h("span", { class: "rb-chip" });
  const bar = progressBar();
  const note = h("div", { class: "rb-note" });
  const lines = h("div", { class: "rb-lines" });
  const money = h("span", { class: "rb-money" });
  const meta = h("div", { class: "rb-meta" }, lines, money);
  const aside = h("p", { class: "rb-aside" });
  const noted = { "aria-label": "Note", placeholder: "Add a note", autocomplete: "off" };
  const remark = h("input", { class: "rb-remark", ...noted });
  const acts = h("div", { class: "rb-acts" });
  const code = codeCopies(frame, model, ["cell", "script", "curl"], () => ({ key: face().key }));
  code.opener.dataset.act = "code";
  const again = h("div", { class: "rb-acts rb-copies", hidden: true });
  const drawLines = countingLines(frame, lines);
  const head = h("div", { class: "rb-head" }, prompt, badge, state);
  frame.body.append(h("article", { class: "rb-card" }, h("div", { class: "rb-stage-wrap" }, stage),
    h("div", { class: "rb-text" }, head, bar, note, meta, aside, remark, acts, again, code.choices)));
  // For the clip that was shown as it was typed: another may be shown by now.
  const told = (request_id, value) => tell(model, { name: "mark", key: face().key, request_id, note: value });
  const showRemark = savedField(frame, remark, () => face().id, told);
  let remarked = "";
  let player = null;
  let playing = 0;
  let poster = "";

  const draw = () => {
    const now = face();
    stage.parentElement.hidden = !now.shape;
    if (now.shape) stage.parentElement.style.setProperty("--rb-shape", `${now.shape[0]} / ${now.shape[1]}`);
    stage.classList.toggle("rb-portrait", Boolean(now.shape && now.shape[1] > now.shape[0]));
    if (now.clip !== playing) {
      // A card that is given another job starts with an empty stage.
      if (player) player.close();
      player = now.clip ? openPlayer() : null;
      playing = now.clip;
    }
    empty.hidden = Boolean(player);
    setText(words, now.stage);
    // An empty stage gets the mark. The sandbox draws it into its clips, so with a clip the badge has it.
    setText(mark, now.mark);
    setText(badge, now.mark);
    const marked = Boolean(now.shape) && !now.clip;
    mark.hidden = !now.mark || !marked;
    badge.hidden = !now.mark || marked;
    setText(prompt, now.prompt);
    prompt.title = now.prompt;
    showText(state, now.word);
    state.className = `rb-chip rb-${now.tone}`;
    showText(note, now.note);
    note.className = `rb-note rb-${now.tone}`;
    showText(aside, now.aside);
    setText(money, now.money);
    drawActions(now);
    star.hidden = now.picked === null || !now.clip;
    star.setAttribute("aria-pressed", String(now.picked));
    stage.classList.toggle("rb-picked", Boolean(now.picked));
    remark.hidden = now.remark === null;
    showRemark(now.remark || "", now.id !== remarked);
    remarked = now.id;
    prompt.parentElement.parentElement.hidden = !now.prompt;
  };
  const openPlayer = () => {
    const opened = clipPlayer(frame, model, stage, {
      codec: () => face().codec,
      label: () => face().prompt,
      fps: () => face().fps,
      autoplay: () => model.get("autoplay") !== false || model.get("playing"),
      wrap: stage.parentElement,
      start: model.get("time"),
      onWant,
    });
    if (poster) opened.video.poster = poster;
    return opened;
  };
  const action = ([name, label]) => (name === "find_out" ? filledButton : plainButton)(label,
    ({ currentTarget }) => act(name, currentTarget), { "data-act": name });
  const act = (name, button) => {
    if (name === "save") player?.save(face().file);
    else if (name === "copy") copyText(frame, face().id, button);
    else onAction(name, button);
  };
  const drawActions = ({ actions, again: seeds }) => {
    if (!isNew(acts, [actions, seeds])) return;
    again.hidden = true;
    again.replaceChildren(...seeds.map(action));
    const rests = [...acts.children].map((button) => button.disabled && button.rests);
    refill(acts, actions.map((each) => {
      if (each[0] === "code") return code.opener;
      return each[0] === "again" && seeds.length ? foldButton(each[1], again) : action(each);
    }));
    // What takes the place of a button that rests, rests too: it may pay what that one took back.
    [...acts.children].forEach((button, place) => rests[place] && restButton(button, rests[place]));
    acts.hidden = !actions.length;
    if (!code.opener.isConnected && !code.choices.hidden) code.opener.click();
  };
  const drawBar = () => {
    const kind = face().bar;
    drawProgress(bar, !kind ? null : kind === "open" ? -1 : Math.max(0, model.get("progress") ?? 0));
  };
  pictureUrl(frame, model, "poster", (url) => {
    poster = url;
    picture.hidden = !url;
    if (url) picture.src = url;
    if (player) player.video.poster = url;
  });
  frame.draw(["face"], draw);
  frame.draw(["face", "progress"], drawBar);
  frame.draw(["figures", "face"], () => {
    drawLines(model.get("figures"));
    meta.hidden = !model.get("figures").length && !face().money;
  });
  return { player: () => player };
}
