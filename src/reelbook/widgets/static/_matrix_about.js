// What is known of one cell, under the table: its words, its buttons, its note, and its clip where it is opened.
import { h, setText, showText, tell } from "./_dom.js";
import { countingLines } from "./_live.js";
import { cellMenu } from "./_matrix_cell.js";
import { clipPlayer } from "./_media.js";
import { savedField } from "./_typed.js";

/**
 * @param {{drawActs: any, blobOf: any, menu: any, close: () => void}} given `menu`: what the menu of a cell does;
 *   `close`: what Escape in the note does
 */
export function matrixAbout(frame, model, { drawActs, blobOf, menu, close }) {
  const stage = h("div", { class: "rb-stage", hidden: true });
  const prompt = h("p", { class: "rb-prompt" });
  const facts = h("span");
  const counts = h("span");
  const money = h("span", { class: "rb-money" });
  const why = h("div", { class: "rb-note", hidden: true });
  const acts = h("div", { class: "rb-acts" });
  const more = cellMenu((...choice) => menu(shown, ...choice));
  const noted = { "aria-label": "Note", placeholder: "Add a note", autocomplete: "off" };
  const remark = h("input", { class: "rb-remark", ...noted });
  const meta = h("div", { class: "rb-meta" }, facts, counts, money);
  const allActs = h("div", { class: "rb-acts" }, acts, more);
  const node = h("div", { class: "rb-about" }, stage,
    h("div", { class: "rb-words" }, prompt, meta, why, allActs, remark));
  const drawCounts = countingLines(frame, counts);
  let shown = 0; // the cell's number
  let played = 0;
  let player = null;

  const showRemark = savedField(frame, remark, () => shown, (key, note) => tell(model, { name: "mark", key, note }));
  remark.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    close();
  });

  const play = (one, is) => {
    stage.hidden = !is;
    if (played === (is && one.n)) return;
    played = is && one.n;
    player?.close();
    player = null;
    if (!is) return;
    stage.style.setProperty("--rb-shape", model.get("shape"));
    player = clipPlayer(frame, model, stage, {
      key: String(one.n),
      fps: () => one.now.fps,
      codec: () => "",
      label: () => prompt.textContent,
      autoplay: () => true,
      fetch: (frame, model, told) => blobOf(one, told),
    });
  };
  /** @param {import("./_matrix_cell.js").Cell | undefined} one @param {boolean} opened @param {boolean} varies */
  const draw = (one, opened, varies) => {
    node.hidden = !one;
    if (!one) return;
    const { now } = one;
    prompt.replaceChildren(...one.prompt.map(([text, differs]) => differs ? h("mark", {}, text) : text));
    setText(facts, [now.about, now.clip ? "" : now.word].filter(Boolean).join(" · "));
    drawCounts(now.clip ? [] : [now.line]);
    setText(money, now.money);
    showText(why, now.note);
    why.className = `rb-note rb-${now.tone}`;
    const marks = [
      ["pick", now.picked ? "★ Picked" : "☆ Pick"],
      opened ? ["close", "Close"] : ["open", "Open"],
    ];
    more.options[1].hidden = !varies;
    drawActs(acts, one, [...(now.clip ? marks : []), ...now.acts]);
    remark.hidden = !now.id || !opened;
    showRemark(now.remark, one.n !== shown);
    shown = one.n;
    play(one, opened && Boolean(now.clip));
  };
  return { node, draw };
}
