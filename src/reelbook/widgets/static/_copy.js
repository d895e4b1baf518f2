// Text to the clipboard, for every panel.
import { setText } from "./_dom.js";

/** Copies, and says so on the button; where the page may not, the text is shown to be copied by hand. */
export async function copyText(frame, text, button, show) {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    setText(button, "Copied");
    frame.say("Copied.");
    setTimeout(() => setText(button, label), 1500);
  } catch { show(text); }
}
