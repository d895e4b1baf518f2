// A clip that plays: the card's anatomy without a job, its time and playing told to Python.
import { openPanel } from "./_dom.js";
import { keepAsking } from "./_live.js";
import { clipCard } from "./_card.js";

function render({ model, el }) {
  const frame = openPanel(model, el, "Player");
  const keep = (name, value) => {
    if (model.get(name) === value) return;
    model.set(name, value);
    try { model.save_changes(); } catch { /* without a kernel nobody listens */ }
  };
  const card = clipCard(frame, model, () => model.get("face"), (name) => {
    if (name === "save") player.save(model.get("face").file);
  }, (plays) => {
    keep("playing", plays);
    if (!plays) keep("time", player.video.currentTime);
  });
  const player = card.player();
  const { video } = player;
  video.addEventListener("seeked", () => video.paused && keep("time", video.currentTime));
  // The kernel is told four times a second only where somebody in it listens.
  video.addEventListener("timeupdate", () => model.get("tells_time") && keep("time", video.currentTime));
  frame.listen("change:time", () => {
    if (Math.abs(video.currentTime - model.get("time")) > 0.3) video.currentTime = model.get("time");
  });
  frame.listen("change:playing", () => player.want(model.get("playing")));
  keepAsking(frame, model, () => {});
  return () => frame.close();
}

export default { render };
