// A job's card: draws what Python composed, sends what is pressed.
import { restButton, tell } from "./_dom.js";
import { panel } from "./_live.js";
import { clipCard } from "./_card.js";

export default panel("job_card", "Clip", (frame, model) => {
  const face = () => model.get("face");
  clipCard(frame, model, face, (name, button) => {
    restButton(button);
    tell(model, { name, picked: !face().picked });
  });
  let told = `${face().word} ${face().note}`;
  frame.listen("change:face", () => {
    const now = `${face().word} ${face().note}`;
    if (now !== told && face().word) frame.say(`${face().word}. ${face().note || face().prompt}`);
    told = now;
  });
}, "The kernel doesn't answer. The job goes on; run the cell again to watch it.");
