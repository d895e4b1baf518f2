// Notices when a person turns to a panel, and away from it.
import { tell } from "./_dom.js";

/**
 * Tells the kernel when a person turns to the panel, or to the box that matches `around`, and when to something else.
 * What would disturb them is done then. A panel counts as used from the moment it is shown.
 */
export function tellWhenLeft(frame, model, around) {
  let used;
  const look = (event) => {
    const [target] = event.composedPath(); // marimo draws panels in shadow trees
    const box = (around && frame.root.closest(around)) || frame.root;
    // Where a click meets nothing that can be focused, the notebook focuses the panel's own cell.
    const inside = box.contains(target) || (event.type === "focusin" && target.contains(box));
    if (inside !== used) tell(model, { name: inside ? "entered" : "left" });
    used = inside;
  };
  for (const kind of ["pointerdown", "focusin"]) {
    document.addEventListener(kind, look, true);
    frame.onClose(() => document.removeEventListener(kind, look, true));
  }
}
