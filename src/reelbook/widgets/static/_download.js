// What was saved on the kernel's disk, for the computer that the page is on: on a hub a path leads nowhere.
import { plainButton } from "./_dom.js";
import { fetchClip, saveFile } from "./_fetch.js";

/** A button that downloads the file that the panel saved last; it is off meanwhile. */
export function downloadButton(frame, model) {
  return plainButton("Download", async ({ currentTarget: button }) => {
    button.disabled = true;
    try {
      saveFile(await fetchClip(frame, model, () => {}, "saved"), model.get("saved"));
    } catch ({ message }) { frame.showMessage({ text: message, tone: "problem" }); }
    button.disabled = false;
  });
}

/** The same beside the message that says where the file is. */
export function offerDownload(frame, model) {
  const button = downloadButton(frame, model);
  frame.message.append(button);
  frame.draw(["saved", "message"], () => {
    const file = model.get("saved");
    button.hidden = !file || !model.get("message").text.includes(file);
  });
}
