// The line on top of the Studio: the service, what is left of the balance and of the key's requests, the views.
import { h, openPanel, setText } from "./_dom.js";
import { tellWhenLeft } from "./_left.js";
import { keepAsking } from "./_live.js";

function render({ model, el }) {
  const frame = openPanel(model, el, "status_line", "Reelbook");
  const badge = h("span", { class: "rb-badge" });
  const balance = h("span");
  const limit = h("span");
  const bars = h("span", { class: "rb-budget", "aria-hidden": "true" });
  const left = h("span");
  const nav = h("nav", { class: "rb-nav", "aria-label": "Panels" });
  frame.body.append(h("div", { class: "rb-line" }, h("b", {}, "Reelbook"), nav, h("div", { class: "rb-facts" }, badge, balance, limit, bars, left)));
  frame.draw(["views", "view", "facts"], () => {
    const views = model.get("views");
    nav.hidden = !views.length;
    views.forEach(([name, label], place) => {
      const button = nav.children[place] || nav.appendChild(h("button", { type: "button", onclick: () => { model.set("view", name); model.save_changes(); } }, h("span"), h("span", { class: "rb-quiet" })));
      setText(button.firstChild, label);
      setText(button.lastChild, name === "board" && model.get("facts").running ? ` ${model.get("facts").running}` : "");
      if (name === model.get("view")) button.setAttribute("aria-current", "page");
      else button.removeAttribute("aria-current");
    });
  });
  frame.draw(["facts"], () => {
    const facts = model.get("facts");
    setText(badge, facts.service);
    badge.classList.toggle("rb-plain", facts.service !== "sandbox");
    setText(balance, facts.balance);
    balance.hidden = !facts.balance;
    setText(limit, facts.limit_left);
    limit.hidden = !facts.limit_left;
    balance.classList.toggle("rb-low", facts.low.includes("balance"));
    limit.classList.toggle("rb-low", facts.low.includes("limit"));
    setText(left, facts.text);
    // More than twenty bars can't be counted at a glance.
    bars.hidden = facts.limit > 20;
    bars.replaceChildren(...Array.from({ length: bars.hidden ? 0 : facts.limit }, (_, place) => h("i", { class: place < facts.limit - facts.left ? "rb-used" : "" })));
  });
  tellWhenLeft(frame, model, ".reelbook-studio");
  keepAsking(frame, model);
  return () => frame.close();
}

export default { render };
