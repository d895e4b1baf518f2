// The picker alone; `_picker.js` does it all.
import { openPanel } from "./_dom.js";
import { imagePicker } from "./_picker.js";

function render({ model, el }) {
  const frame = openPanel(model, el, "image_picker", "Image");
  frame.body.append(imagePicker(frame, model));
  return () => frame.close();
}

export default { render };
