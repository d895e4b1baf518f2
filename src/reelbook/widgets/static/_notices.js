// The switch for notices, which the browser keeps: off until it is pressed.
import { h, setText } from "./_dom.js";

const SWITCH = "reelbook-notices";
const SWITCHED = "reelbook-notices-changed";

/** @returns {{on: boolean, sounds: boolean}} what was chosen, and is still allowed */
export function noticesChosen() {
  const kept = localStorage.getItem(SWITCH) || "";
  return { on: Boolean(kept) && globalThis.Notification?.permission === "granted", sounds: kept === "sound" };
}

function keepChoice(kept) {
  localStorage.setItem(SWITCH, kept);
  dispatchEvent(new Event(SWITCHED));
}

/** The switch with its sound, for all panels and pages of this browser. */
export function noticeSwitch(frame) {
  const words = "Tell me when clips are done";
  const turn = async () => {
    if (noticesChosen().on) return keepChoice("");
    if (Notification.permission !== "granted") await Notification.requestPermission();
    keepChoice("on");
  };
  const is = { type: "button", class: "rb-switch", role: "switch", "aria-label": words };
  const button = h("button", { ...is, onclick: turn });
  const option = (text, kept) =>
    h("button", { type: "button", onclick: () => keepChoice(kept), "data-kept": kept }, text);
  const sound = h("span", { class: "rb-seg", role: "group", "aria-label": "Sound" },
    option("Sound off", "on"), option("Sound on", "sound"));
  const note = h("p", { class: "rb-quiet" });
  const draw = () => {
    const { on, sounds } = noticesChosen();
    const blocked = !globalThis.Notification || Notification.permission === "denied";
    button.setAttribute("aria-checked", String(on));
    button.disabled = blocked;
    sound.hidden = !on;
    for (const each of sound.children) {
      each.setAttribute("aria-pressed", String((each.dataset.kept === "sound") === sounds));
    }
    setText(note, blocked
      ? `The browser blocks notifications for this page.${window === top ? " The tab's title still says it." : ""}`
      : "Once for all clips that run, when this tab isn't in front.");
  };
  for (const kind of [SWITCHED, "storage"]) {
    addEventListener(kind, draw);
    frame.onClose(() => removeEventListener(kind, draw));
  }
  draw();
  return h("div", { class: "rb-tell" }, h("div", { class: "rb-acts" }, button, h("span", {}, words), sound), note);
}
