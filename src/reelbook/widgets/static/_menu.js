// A menu: it lies above the page, under the button that opened it. Where the page moves, it closes.
import { h } from "./_dom.js";

/** @returns {{node: HTMLElement, toggle: (opener: HTMLElement) => void}} `node` holds what can be chosen */
export function openMenu(frame, label) {
  const node = h("div", { class: "rb-menu", popover: "auto", role: "group", "aria-label": label });
  let opener = null;
  const hide = (event) => {
    if (node.matches(":popover-open") && !node.contains(event.target)) node.hidePopover();
  };
  node.addEventListener("toggle", () => {
    const open = node.matches(":popover-open");
    opener.setAttribute("aria-expanded", String(open));
    if (!open) return;
    const { height, bottom } = node.getBoundingClientRect();
    if (bottom > innerHeight) node.style.top = `${opener.getBoundingClientRect().top - height - 4}px`;
    node.querySelector("button").focus();
  });
  node.addEventListener("beforetoggle", ({ newState }) => {
    const at = opener.getBoundingClientRect();
    const left = Math.max(4, Math.min(at.left, innerWidth - 160));
    Object.assign(node.style, { left: `${left}px`, top: `${at.bottom + 4}px` });
    (newState === "open" ? addEventListener : removeEventListener)("scroll", hide, true);
  });
  frame.onClose(() => removeEventListener("scroll", hide, true));
  const toggle = (button) => {
    opener = button;
    node.togglePopover();
  };
  return { node, toggle };
}
