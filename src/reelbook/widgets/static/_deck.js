// The controls of many clips on one clock: play all, a frame back or on, the time line, the speed; their keys.
import { h, plainButton, setText } from "./_dom.js";
import { commonClock } from "./_clock.js";
import { frameFrom, keepTrait, speedChoice, timeLine } from "./_controls.js";

/**
 * A deck that drives the clips and follows the traits `time`, `playing` and `speed`.
 * @param {{clips: () => import("./_clock.js").Timed[], onTime: (at: number) => void, fps: () => number,
 *   words?: (part: number) => string | false}} about `clips`: the loaded ones; `words`: the time in other words
 */
export function clockDeck(frame, model, { clips, onTime, fps, words }) {
  const get = (name) => model.get(name);
  const keep = (name, value) => keepTrait(model, name, value);
  const toggle = () => keep("playing", !get("playing"));
  const play = plainButton("Play all", toggle, { class: "rb-plain rb-play", title: "Space" });
  const steps = h("span", { class: "rb-group" },
    plainButton("‹", () => step(-1), { title: "A frame back (,)", "aria-label": "Frame back" }),
    plainButton("›", () => step(1), { title: "A frame forward (.)", "aria-label": "Frame forward" }));

  let toldAt = 0;
  const draw = (at) => {
    const length = clock.length();
    drawTime(at, length, words?.(at / length) || undefined);
    time.setAttribute("aria-valuetext", said.textContent);
    onTime(at);
    // The kernel is told four times a second only where somebody in it listens.
    const now = performance.now();
    if (clock.wanted() && get("reports_time") && now - toldAt > 250) {
      toldAt = now;
      keep("time", at);
    }
  };
  const clock = commonClock(clips, draw);
  let resting = 0;
  const seek = (at) => {
    clock.seek(at);
    clearTimeout(resting);
    resting = setTimeout(() => clock.wanted() || keep("time", clock.at()), 200);
  };
  const step = (frames) => {
    keep("playing", false);
    seek(frameFrom(clock.at(), frames, fps()));
  };
  const { time, line, said, draw: drawTime } = timeLine(seek, clock.rest);
  const speed = speedChoice(frame, model, clock.setSpeed);
  frame.onClose(() => {
    clock.stop();
    clearTimeout(resting);
  });
  return {
    clock, keep, seek, toggle, play, draw: () => draw(clock.at()), parts: [play, steps, line, said, speed.select],
    keys: { " ": toggle, ",": () => step(-1), ".": () => step(1), ...speed.keys },
    /** Follows the traits from now on. */
    follow() {
      speed.follow();
      frame.draw(["playing"], () => {
        setText(play, get("playing") ? "Pause" : "Play all");
        if (get("playing") === clock.wanted()) return;
        clock.want(get("playing"));
        if (!get("playing")) keep("time", clock.at());
      });
      frame.draw(["time"], () => {
        // A time that the playing clock itself reported a moment ago isn't a request to go back.
        if (Math.abs(clock.at() - get("time")) > (clock.wanted() ? 0.5 : 0.001)) clock.seek(get("time"));
      });
    },
  };
}
