// A job's card: draws what Python composed, sends what is pressed.
import { openPanel, restButton, tell } from "./_dom.js";
import { keepAsking } from "./_live.js";
import { clipCard } from "./_card.js";

function render({ model, el }) {
  const frame = openPanel(model, el, "job_card", "Clip");
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
  keepAsking(frame, model, "The kernel doesn't answer. The job goes on; run the cell again to watch it.");
  return () => frame.close();
}

export default { render };
