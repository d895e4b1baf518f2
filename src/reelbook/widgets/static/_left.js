// Notices when a person turns to a panel, and away from it.
import { tell } from "./_dom.js";

/**
 * Tells the kernel when a person turns to the panel, and when to something else. What would disturb them is done then.
 * A panel counts as used from the moment it is shown.
 * @param {{root: HTMLElement, onClose: (cleanup: () => void) => void}} frame
 */
export function tellWhenLeft(frame, model) {
  let used;
  const look = (event) => {
    const [target] = event.composedPath(); // marimo draws panels in shadow trees
    // Where a click meets nothing that can be focused, the notebook focuses the panel's own cell.
    const inside = frame.root.contains(target) || (event.type === "focusin" && target.contains(frame.root));
    if (inside !== used) tell(model, { name: inside ? "entered" : "left" });
    used = inside;
  };
  for (const kind of ["pointerdown", "focusin"]) {
    document.addEventListener(kind, look, true);
    frame.onClose(() => document.removeEventListener(kind, look, true));
  }
}
