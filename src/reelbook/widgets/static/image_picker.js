// The image picker as a panel; `_picker.js` does the work.
import { panel } from "./_live.js";
import { imagePicker } from "./_picker.js";

export default panel("image_picker", "Image", (frame, model) => {
  frame.body.append(imagePicker(frame, model));
});
