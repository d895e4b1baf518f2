// A clip that plays: the card's anatomy without a job, its time and playing told to Python.
import { openPanel } from "./_dom.js";
import { keepAsking } from "./_live.js";
import { clipCard } from "./_card.js";

function render({ model, el }) {
  const frame = openPanel(model, el, "Player");
  const card = clipCard(frame, model, () => model.get("face"), (name) => {
    if (name === "save") card.player()?.save(model.get("face").file);
  });
  let video = null;
  const wire = () => {
    const now = card.player()?.video;
    if (!now || now === video) return;
    video = now;
    const keep = (name, value) => {
      if (model.get(name) === value) return;
      model.set(name, value);
      model.save_changes();
    };
    video.addEventListener("play", () => keep("playing", true));
    video.addEventListener("pause", () => keep("playing", false));
    video.addEventListener("seeked", () => video.paused && keep("time", video.currentTime));
    video.addEventListener("pause", () => keep("time", video.currentTime));
    // The kernel is told four times a second only where somebody in it listens.
    video.addEventListener("timeupdate", () => model.get("tells_time") && keep("time", video.currentTime));
  };
  frame.draw(["face"], wire);
  frame.listen("change:time", () => {
    if (video && Math.abs(video.currentTime - model.get("time")) > 0.3) video.currentTime = model.get("time");
  });
  frame.listen("change:playing", () => {
    if (!video || video.paused !== model.get("playing")) return;
    if (model.get("playing")) video.play().catch(() => {});
    else video.pause();
  });
  keepAsking(frame, model, () => {});
  return () => frame.close();
}

export default { render };
