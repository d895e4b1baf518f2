// The line on top of the Studio: the service, what is left of the balance and of the key's requests, the views.
import { keepTrait } from "./_controls.js";
import { h, plainButton, setText, showText } from "./_dom.js";
import { panel } from "./_live.js";

/**
 * What is left, as the kernel knows it.
 * @typedef {{service: string, balance: string, limit_left: string, low: Array<"balance" | "limit">, text: string,
 *   limit: number, left: number, running: number}} Facts `limit` and `left`: of the key's requests
 */

export default panel("status_line", "Reelbook", (frame, model) => {
  const badge = h("span", { class: "rb-badge" });
  const balance = h("span");
  const limit = h("span");
  const bars = h("span", { class: "rb-budget", "aria-hidden": "true" });
  const left = h("span");
  const refused = h("span", { class: "rb-low" });
  const replace = plainButton("Replace key", () => choose("connection"));
  const nav = h("nav", { class: "rb-nav", "aria-label": "Panels" });
  const told = h("div", { class: "rb-facts" }, badge, balance, limit, bars, left, refused, replace);
  frame.body.append(h("div", { class: "rb-line" }, h("b", {}, "Reelbook"), nav, told));
  const choose = (name) => {
    more.hidePopover();
    keepTrait(model, "view", name);
  };
  const toggles = { "aria-expanded": "false", onclick: () => more.togglePopover() };
  const opener = h("button", { type: "button", class: "rb-opener", ...toggles });
  const more = h("div", { class: "rb-more", popover: "auto", role: "group", "aria-label": "More panels" });
  const button = ([name]) => {
    const chooses = { "data-view": name, onclick: () => choose(name) };
    return h("button", { type: "button", ...chooses }, h("span"), h("span", { class: "rb-quiet" }));
  };
  // Reelbook's extension of JupyterLab does it; elsewhere, and in the tab itself, it isn't offered.
  const openInTab = () => {
    more.hidePopover();
    globalThis.reelbookOpenInTab(frame.root);
  };
  const inTab = h("button", { type: "button", onclick: openInTab }, "Open in a tab");
  const mark = (node, current) => {
    if (current) node.setAttribute("aria-current", "page");
    else node.removeAttribute("aria-current");
  };
  frame.draw(["views", "more"], () => {
    const [views, others] = [model.get("views"), model.get("more")];
    nav.hidden = !views.length;
    more.replaceChildren(...others.map(button), inTab);
    nav.replaceChildren(...views.map(button), ...(others.length ? [opener, more] : []));
  });
  frame.draw(["views", "more", "view", "facts"], () => {
    const labels = Object.fromEntries([...model.get("views"), ...model.get("more")]);
    const view = model.get("view");
    const { running } = model.get("facts");
    for (const node of nav.querySelectorAll("[data-view]")) {
      const name = node.dataset.view;
      setText(node.firstChild, labels[name]);
      setText(node.lastChild, name === "board" && running ? ` ${running}` : "");
      mark(node, name === view);
    }
    const inside = model.get("more").some(([name]) => name === view);
    setText(opener, inside ? labels[view] : "More");
    mark(opener, inside);
  });
  // It lies above the page, so it is put under its button; where the page moves, it closes.
  const hide = (event) => {
    if (more.matches(":popover-open") && !more.contains(event.target)) more.hidePopover();
  };
  more.addEventListener("toggle", () => {
    const open = more.matches(":popover-open");
    opener.setAttribute("aria-expanded", String(open));
    if (open) more.querySelector("button").focus();
  });
  more.addEventListener("beforetoggle", ({ newState }) => {
    inTab.hidden = !globalThis.reelbookOpenInTab || frame.root.closest(".jp-LinkedOutputView") !== null;
    const at = opener.getBoundingClientRect();
    const left = Math.max(4, Math.min(at.left, innerWidth - 160));
    Object.assign(more.style, { left: `${left}px`, top: `${at.bottom + 4}px` });
    (newState === "open" ? addEventListener : removeEventListener)("scroll", hide, true);
  });
  frame.onClose(() => removeEventListener("scroll", hide, true));
  frame.draw(["facts"], () => {
    /** @type {Facts} */
    const facts = model.get("facts");
    setText(badge, facts.service);
    badge.classList.toggle("rb-plain", facts.service !== "sandbox");
    showText(refused, facts.refused || "");
    replace.hidden = !facts.refused;
    for (const node of [balance, limit, bars, left]) node.hidden = Boolean(facts.refused);
    if (facts.refused) return;
    showText(balance, facts.balance);
    showText(limit, facts.limit_left);
    balance.classList.toggle("rb-low", facts.low.includes("balance"));
    limit.classList.toggle("rb-low", facts.low.includes("limit"));
    setText(left, facts.text);
    // More than twenty bars can't be counted at a glance.
    bars.hidden = facts.limit > 20;
    const used = (place) => h("i", { class: place < facts.limit - facts.left ? "rb-used" : "" });
    bars.replaceChildren(...Array.from({ length: bars.hidden ? 0 : facts.limit }, (_, place) => used(place)));
  });
});
