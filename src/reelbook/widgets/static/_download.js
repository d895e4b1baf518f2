// What was saved on the kernel's disk, for the computer that the page is on: on a hub a path leads nowhere.
import { plainButton, setText } from "./_dom.js";
import { fetchClip, saveFile } from "./_fetch.js";

/** A button that downloads the file that the panel saved last, and says how far it is. */
export function downloadButton(frame, model) {
  const button = plainButton("Download", async () => {
    button.disabled = true;
    try {
      const say = (done) => setText(button, done < 1 ? `Download: ${Math.floor(done * 100)} %` : "Download");
      saveFile(await fetchClip(frame, model, say, "saved"), model.get("saved"));
    } catch (error) {
      frame.showMessage({ text: error.message, tone: "problem" });
    }
    button.disabled = false;
  });
  return button;
}

/** The same beside the message that says where the file is. */
export function offerDownload(frame, model) {
  const button = downloadButton(frame, model);
  frame.message.insertBefore(button, frame.message.lastChild);
  frame.draw(["saved", "message"], () => { button.hidden = !saysSaved(model); });
}

const saysSaved = (model) => model.get("saved") && model.get("message").text.includes(model.get("saved"));
