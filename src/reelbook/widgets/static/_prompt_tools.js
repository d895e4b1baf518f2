// Beside a field for a prompt: earlier prompts, searched as one types, and the pieces of prompt that a person keeps.
import { GONE, ask, focusedNode, h, plainButton, setText } from "./_dom.js";

/**
 * @param {HTMLTextAreaElement} prompt
 * @param {(text: string) => void} put sets the prompt
 * @returns {{buttons: HTMLElement, box: HTMLElement}} two buttons, and what they open below the prompt
 */
export function promptTools(frame, model, prompt, put) {
  let open = "";
  let turn = 0; // counts the questions: only the last one's answer is shown
  let waiting = 0;
  const opener = (label, name) => plainButton(label, () => toggle(name));
  const openers = { history: opener("History", "history"), styles: opener("Styles", "styles") };
  const buttons = h("span", { class: "rb-acts rb-openers" }, ...Object.values(openers));
  const field = (type, label, placeholder, oninput = () => {}) => {
    return h("input", { type, "aria-label": label, placeholder, autocomplete: "off", oninput });
  };
  const search = field("search", "Search the history", "Search earlier prompts", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => look(open), 150);
  });
  const fresh = field("text", "New style", "film grain, 35 mm");
  const keep = plainButton("Keep as a style", () => fresh.value.trim() && look("keep_style", fresh.value));
  const newRow = h("div", { class: "rb-new" }, fresh, keep);
  const list = h("ul");
  const note = h("p", { class: "rb-quiet" });
  const box = h("div", { class: "rb-offers", role: "group", hidden: true }, search, list, newRow, note);

  const look = async (name, text = search.value) => {
    turn += 1;
    const mine = turn;
    const answer = await ask(frame, model, { name, text });
    if (!answer) return setText(note, GONE);
    if (mine !== turn || !open || !answer.items) return;
    if (answer.items.includes(fresh.value.trim())) fresh.value = "";
    list.replaceChildren(...answer.items.map(line));
    setText(note, answer.note);
    frame.say(answer.note);
  };
  const toggle = (name) => {
    open = open === name ? "" : name;
    for (const [each, button] of Object.entries(openers)) button.setAttribute("aria-expanded", String(each === open));
    clearTimeout(waiting);
    box.hidden = !open;
    if (!open) return;
    box.setAttribute("aria-label", openers[open].textContent);
    search.value = "";
    search.hidden = open !== "history";
    newRow.hidden = open !== "styles";
    list.replaceChildren();
    setText(note, "");
    // The marked words are what somebody wants to keep.
    fresh.value = prompt.value.slice(prompt.selectionStart, prompt.selectionEnd).trim();
    look(open);
    if (open === "history") search.focus();
  };
  const close = () => {
    const left = openers[open];
    toggle(open);
    left.focus();
  };
  const take = (text) => {
    if (open === "styles") return insert(text);
    toggle(open);
    put(text);
    prompt.focus();
    prompt.setSelectionRange(text.length, text.length);
  };
  /** Puts a style where the caret is, which stays at the end unless somebody moved it. */
  const insert = (style) => {
    const before = prompt.value.slice(0, prompt.selectionEnd).trimEnd();
    const after = prompt.value.slice(prompt.selectionEnd).trimStart();
    const start = before + (!before ? "" : after || /[,;:]$/.test(before) ? " " : ", ") + style;
    put(start + (after && !/^[,.;:!?]/.test(after) ? " " : "") + after);
    prompt.setSelectionRange(start.length, start.length);
    frame.say(`Added: ${style}`);
  };
  const line = (text) => {
    const offer = h("button", { type: "button", class: "rb-offer", title: text, onclick: () => take(text) }, text);
    if (open === "history") return h("li", {}, offer);
    const remove = () => {
      fresh.value = text;
      look("remove_style", text);
      fresh.focus();
    };
    return h("li", {}, offer, plainButton("×", remove, { "aria-label": `Remove ${text}`, title: "Remove" }));
  };
  const onKey = (event) => {
    const stops = [search, ...list.querySelectorAll(".rb-offer"), fresh].filter((node) => node.offsetParent);
    const at = stops.indexOf(focusedNode());
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && open) close();
    else if (event.key === "Enter" && event.target === search) list.querySelector(".rb-offer")?.click();
    else if (event.key === "Enter" && event.target === fresh) keep.click();
    else if (event.key === "ArrowDown" && at >= 0) stops[at + 1]?.focus();
    else if (event.key === "ArrowUp" && at >= 0) stops[at - 1]?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  for (const part of [buttons, box]) part.addEventListener("keydown", onKey);
  frame.onClose(() => clearTimeout(waiting));
  return { buttons, box };
}
