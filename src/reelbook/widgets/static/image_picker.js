// The image picker as a panel; `_picker.js` does the work.
import { openPanel } from "./_dom.js";
import { imagePicker } from "./_picker.js";

function render({ model, el }) {
  const frame = openPanel(model, el, "image_picker", "Image");
  frame.body.append(imagePicker(frame, model));
  return () => frame.close();
}

export default { render };
