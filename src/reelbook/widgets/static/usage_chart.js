// The words around a usage chart: the head with the periods, or the foot with the day, the ledger and the table.
import { h, openPanel, setText, tell } from "./_dom.js";
import { tellWhenLeft } from "./_left.js";
import { keepAsking } from "./_live.js";

function set(model, name, value) {
  model.set(name, value);
  model.save_changes();
}

function head(frame, model) {
  const total = h("b", { class: "rb-total" });
  const about = h("span", { class: "rb-quiet" });
  const pace = h("span", { class: "rb-quiet" });
  const badge = h("span", { class: "rb-badge" }, "sandbox");
  const empty = h("p", { class: "rb-quiet" });
  const periods = h("div", { class: "rb-seg", role: "group", "aria-label": "Period" });
  const again = h("button", { type: "button", class: "rb-plain", onclick: () => tell(model, { name: "again" }) }, "Ask again");
  frame.body.append(h("div", { class: "rb-usage-head" }, total, badge, about, pace, periods), empty, again);
  frame.draw(["words", "days"], () => {
    const words = model.get("words");
    for (const [node, text] of [[total, words.total], [about, words.about], [pace, words.pace], [empty, words.empty]]) {
      setText(node, text || "");
      node.hidden = !text;
    }
    again.hidden = !words.again;
    badge.hidden = !words.sandbox;
    for (const days of periods.children.length ? [] : words.periods || []) {
      periods.append(h("button", { type: "button", "data-days": days, onclick: () => set(model, "days", days) }, `${days} days`));
    }
    for (const button of periods.children) {
      button.setAttribute("aria-pressed", String(Number(button.dataset.days) === model.get("days")));
    }
  });
}

function foot(frame, model) {
  const progress = h("p", { class: "rb-quiet" });
  const ledger = h("p", { class: "rb-quiet" });
  const reading = h("p", { class: "rb-quiet" });
  const shares = h("ul", { class: "rb-shares", "aria-label": "Of it, by the ledger" });
  const dayTitle = h("b");
  const clips = h("ul");
  const more = h("p", { class: "rb-quiet" });
  const day = h("div", { class: "rb-usage-day", hidden: true },
    h("div", { class: "rb-acts" }, dayTitle,
      h("button", { type: "button", class: "rb-plain", onclick: () => set(model, "selected", "") }, "Close")), clips, more);
  const rows = h("tbody");
  const table = h("details", { class: "rb-usage-table" }, h("summary", {}, "As a table"),
    h("table", {}, h("thead", {}, h("tr", {}, ...["Day", "USD", "Used", ""].map((text) => h("th", { scope: "col" }, text)))), rows));
  frame.body.append(h("div", { class: "rb-usage-foot" }, day, progress, ledger, shares, reading, table));
  let drawn = "";
  frame.draw(["words", "selected"], () => {
    const words = model.get("words");
    for (const [node, text] of [[progress, words.progress], [ledger, words.ledger], [reading, words.reading]]) {
      setText(node, text || "");
      node.hidden = !text;
    }
    shares.hidden = !(words.shares || []).length;
    shares.replaceChildren(...(words.shares || []).map(([name, money]) => h("li", {}, h("span", {}, name), h("span", {}, money))));
    const chosen = words.day || {};
    if (chosen.title && day.hidden) frame.say(chosen.title);
    day.hidden = !chosen.title;
    setText(dayTitle, chosen.title || "");
    clips.replaceChildren(...(chosen.clips || []).map(([prompt, money]) => h("li", {}, h("span", {}, prompt), h("span", {}, money))));
    setText(more, chosen.more || "");
    table.hidden = !(words.rows || []).length;
    const wanted = JSON.stringify([words.rows, model.get("selected")]);
    if (wanted === drawn) return; // a button keeps its focus
    drawn = wanted;
    const at = [...rows.children].findIndex((row) => row.contains(document.activeElement));
    rows.replaceChildren(...(words.rows || []).map(([name, when, money, about, note]) => h("tr", {},
      h("th", { scope: "row" }, name ? h("button", {
        type: "button", class: "rb-plain", "aria-pressed": String(name === model.get("selected")),
        onclick: () => set(model, "selected", name === model.get("selected") ? "" : name),
      }, when) : when), h("td", {}, money), h("td", {}, about), h("td", { class: "rb-quiet" }, note))));
    if (at >= 0) rows.children[Math.min(at, rows.children.length - 1)]?.querySelector("button")?.focus();
  });
  let finished = "";
  frame.draw(["live"], () => {
    if (model.get("live") || finished === model.get("words").progress) return;
    finished = model.get("words").progress;
    if (finished) frame.say(finished);
  });
}

function render({ model, el }) {
  const top = model.get("part") === "head";
  const frame = openPanel(model, el, "usage_chart", top ? "Usage" : "Usage in words");
  (top ? head : foot)(frame, model);
  if (top) tellWhenLeft(frame, model, ".reelbook-usage");
  keepAsking(frame, model);
  return () => frame.close();
}

export default { render };
