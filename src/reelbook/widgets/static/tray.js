// The picks of the day: their posters, what they lead to, and what longer ones would cost.
import {
  filledButton, focusedNode, h, isNew, plainButton, refill, restButton, setText, showText, tell,
} from "./_dom.js";
import { panel } from "./_live.js";
import { posters } from "./_posters.js";

/**
 * @typedef {{said: string, offers: Array<[string, string]>, off: string}} Face `off`: why they can't be compared
 * @typedef {{said: string, button: string, off: string, lengths: Array<[number, string]>, seconds: number}} Longer
 */

export default panel("tray", "Picks", (frame, model) => {
  const pictures = posters(frame, model);
  const number = h("b");
  const today = h("span", { class: "rb-quiet" }, "today");
  const list = h("span", { class: "rb-picks" });
  const why = h("span", { class: "rb-quiet" });
  const acts = h("span", { class: "rb-acts" });
  const lengths = h("span", { class: "rb-seg", role: "group", "aria-label": "Length" });
  const said = h("span");
  const off = h("span", { class: "rb-quiet" });
  const buy = filledButton("", () => {
    restButton(buy);
    tell(model, { name: "buy" });
  });
  const cancel = plainButton("Cancel", () => tell(model, { name: "longer" }));
  const plan = h("div", { class: "rb-longer", role: "group", "aria-label": "Make longer" }, lengths, said, off,
    h("span", { class: "rb-acts" }, cancel, buy));
  const row = h("div", { class: "rb-tray" }, h("span", { class: "rb-said" }, number, " ", today), list, why, acts);
  frame.body.append(row, plan);

  frame.draw(["shown"], () => {
    if (!isNew(list, model.get("shown"))) return;
    for (const img of list.querySelectorAll("img")) pictures.forget(img);
    refill(list, model.get("shown").map(([key, prompt]) => {
      const img = h("img", { alt: "", hidden: true });
      const button = h("button", { type: "button", title: prompt, "aria-label": `Open: ${prompt}`, "data-key": key,
        onclick: () => tell(model, { name: "open", key }) }, img);
      return button;
    }));
    for (const button of list.children) pictures.show(button.firstChild, button.dataset.key);
  });
  frame.draw(["face"], () => {
    /** @type {Face} */
    const face = model.get("face");
    frame.root.hidden = !face.said;
    setText(number, face.said);
    showText(why, face.off);
    if (!isNew(acts, [face.offers, face.off])) return;
    refill(acts, face.offers.map(([name, label]) => plainButton(label, ({ currentTarget }) => {
      if (name === "compare" || name === "judge") currentTarget.blur(); // what it opens takes the focus
      tell(model, name === "longer" ? { name, seconds: 10 } : { name });
    }, { "data-act": name, disabled: name === "compare" && Boolean(face.off) })));
  });
  frame.draw(["longer"], () => {
    /** @type {Longer} */
    const longer = model.get("longer");
    if (plan.contains(focusedNode()) && !longer.lengths) acts.querySelector("[data-act=longer]")?.focus();
    if (plan.hidden && longer.lengths) requestAnimationFrame(() => plan.scrollIntoView({ block: "nearest" }));
    plan.hidden = !longer.lengths;
    if (plan.hidden) return;
    if (isNew(lengths, [longer.lengths, longer.seconds])) {
      refill(lengths, longer.lengths.map(([seconds, label]) => plainButton(label, () => {
        tell(model, { name: "longer", seconds });
      }, { "data-seconds": seconds, "aria-pressed": String(seconds === longer.seconds) })));
    }
    setText(said, longer.said);
    showText(off, longer.off);
    showText(buy, longer.button);
    buy.setAttribute("aria-disabled", String(Boolean(longer.off)));
    frame.say(longer.said);
  });
  frame.draw(["message"], () => plan.hidden || frame.message.scrollIntoView({ block: "nearest" }));
});
