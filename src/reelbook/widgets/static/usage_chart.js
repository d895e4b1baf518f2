// The words around a usage chart: the head with the periods, or the foot with the day, the ledger and the table.
import { keepTrait } from "./_controls.js";
import { focusedNode, h, plainButton, segment, setText, showText, tell } from "./_dom.js";
import { panel } from "./_live.js";

/**
 * What the kernel says: the head has the first line, the foot the others.
 * @typedef {{total: string, about: string, pace: string, empty: string, again: boolean, sandbox: boolean,
 *   progress: string, ledger: string, reading: string, shares: Array<[string, string]>,
 *   day: {title: string, clips: Array<[string, string]>, more: string},
 *   rows: Array<[string, string, string, string, string]>}} Words `rows`: a day's name, day, USD, what was used, a note
 */

function head(frame, model) {
  const total = h("b", { class: "rb-total" });
  const about = h("span", { class: "rb-quiet" });
  const pace = h("span", { class: "rb-quiet" });
  const badge = h("span", { class: "rb-badge" }, "sandbox");
  const empty = h("p", { class: "rb-quiet" });
  const each = model.get("periods").map((days) => [String(days), `${days} days`]);
  const periods = segment("Period", each, (days) => keepTrait(model, "days", Number(days)));
  const again = plainButton("Ask again", () => tell(model, { name: "again" }));
  frame.body.append(h("div", { class: "rb-usage-head" }, total, badge, about, pace, periods.node), empty, again);
  frame.draw(["words", "days"], () => {
    /** @type {Partial<Words>} */
    const words = model.get("words");
    showText(total, words.total);
    showText(about, words.about);
    showText(pace, words.pace);
    showText(empty, words.empty);
    again.hidden = !words.again;
    badge.hidden = !words.sandbox;
    periods.press(String(model.get("days")));
  });
}

function foot(frame, model) {
  frame.root.ariaLabel = "Usage in words";
  const progress = h("p", { class: "rb-quiet" });
  const ledger = h("p", { class: "rb-quiet" });
  const reading = h("p", { class: "rb-quiet" });
  const shares = h("ul", { "aria-label": "Of it, by the ledger" });
  const dayTitle = h("b");
  const clips = h("ul");
  const more = h("p", { class: "rb-quiet" });
  const close = plainButton("Close", () => keepTrait(model, "selected", ""));
  const day = h("div", { class: "rb-usage-day", hidden: true },
    h("div", { class: "rb-acts" }, dayTitle, close), clips, more);
  const rows = h("tbody");
  const heads = ["Day", "USD", "Used", ""].map((text) => h("th", { scope: "col" }, text));
  const table = h("details", { class: "rb-usage-table" }, h("summary", {}, "As a table"),
    h("table", {}, h("thead", {}, h("tr", {}, ...heads)), rows));
  const pair = ([name, money]) => h("li", {}, h("span", {}, name), h("span", {}, money));
  const row = ([name, when, money, about, note]) => {
    const chosen = model.get("selected") === name;
    const choose = () => keepTrait(model, "selected", chosen ? "" : name);
    return h("tr", {},
      h("th", { scope: "row" }, name ? plainButton(when, choose, { "aria-pressed": String(chosen) }) : when),
      h("td", {}, money), h("td", {}, about), h("td", { class: "rb-quiet" }, note));
  };
  frame.body.append(h("div", { class: "rb-usage-foot" }, day, progress, ledger, shares, reading, table));
  let drawn = "";
  frame.draw(["words", "selected"], () => {
    /** @type {Partial<Words>} */
    const words = model.get("words");
    showText(progress, words.progress);
    showText(ledger, words.ledger);
    showText(reading, words.reading);
    shares.hidden = !(words.shares || []).length;
    shares.replaceChildren(...(words.shares || []).map(pair));
    const chosen = words.day || {};
    if (chosen.title && day.hidden) frame.say(chosen.title);
    showText(dayTitle, chosen.title);
    day.hidden = dayTitle.hidden;
    clips.replaceChildren(...(chosen.clips || []).map(pair));
    setText(more, chosen.more || "");
    table.hidden = !(words.rows || []).length;
    const wanted = JSON.stringify([words.rows, model.get("selected")]);
    if (wanted === drawn) return; // a button keeps its focus
    drawn = wanted;
    const at = [...rows.children].findIndex((each) => each.contains(focusedNode()));
    rows.replaceChildren(...(words.rows || []).map(row));
    if (at >= 0) rows.children[Math.min(at, rows.children.length - 1)]?.querySelector("button")?.focus();
  });
  let finished = "";
  frame.draw(["live"], () => {
    if (model.get("live") || finished === model.get("words").progress) return;
    finished = model.get("words").progress;
    if (finished) frame.say(finished);
  });
}

export default panel("usage_chart", "Usage", (frame, model) => {
  (model.get("part") === "head" ? head : foot)(frame, model);
});
