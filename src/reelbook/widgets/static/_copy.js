// Copies text to the clipboard, for every panel.
import { setText } from "./_dom.js";

/** Copies, and says so on the button. Where the page isn't allowed to, it shows the text to be copied by hand. */
export async function copyText(frame, text, button, show = () => frame.showMessage({ text, tone: "info" })) {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    setText(button, "Copied");
    frame.say("Copied.");
    setTimeout(() => setText(button, label), 1500);
  } catch { show(text); }
}
