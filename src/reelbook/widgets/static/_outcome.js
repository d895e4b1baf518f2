// What a panel's last action came to: a note that is hidden while there is none, and read out when it comes.
import { h, setText } from "./_dom.js";

/** The note of the traits `outcome` and `good`. @returns {HTMLElement} */
export function outcomeNote(frame, model) {
  const note = h("div", { class: "rb-note", hidden: true });
  frame.draw(["outcome", "good"], () => {
    const text = model.get("outcome");
    setText(note, text);
    note.hidden = !text;
    note.classList.toggle("rb-fail", !model.get("good"));
    if (text) frame.say(text);
  });
  return note;
}
