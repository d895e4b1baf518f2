// The controls of many clips on one clock: play all, a frame back or on, the time line, the time, the speed; their keys.
import { h, setText } from "./_dom.js";
import { commonClock } from "./_clock.js";

const DECK_SPEEDS = [0.25, 0.5, 0.75, 1, 1.5, 2];

/**
 * A deck that drives the clips and follows the traits `time`, `playing` and `speed`.
 * @param {{clips: () => import("./_clock.js").Timed[], onTime: (at: number) => void, fps: () => number,
 *   words?: (part: number) => string | false}} about `clips`: the loaded ones; `words`: what says the time in other words
 */
export function clockDeck(frame, model, { clips, onTime, fps, words }) {
  const get = (name) => model.get(name);
  const keep = (name, value) => {
    if (get(name) === value) return;
    model.set(name, value);
    try { model.save_changes(); } catch { /* without a kernel nobody listens */ }
  };
  const toggle = () => keep("playing", !get("playing"));
  const button = (label, title, act, more) => h("button", { type: "button", class: "rb-plain", title, onclick: act, ...more }, label);
  const play = button("Play all", "Space", toggle, { class: "rb-plain rb-play" });
  const steps = h("span", { class: "rb-group" }, button("‹", "A frame back (,)", () => step(-1), { "aria-label": "Frame back" }), button("›", "A frame forward (.)", () => step(1), { "aria-label": "Frame forward" }));
  const time = h("input", { type: "range", class: "rb-time", min: 0, max: 1, step: "any", value: 0, "aria-label": "Time" });
  const line = h("span", { class: "rb-line" }, time);
  const said = h("span", { class: "rb-said" });
  const speed = h("select", { "aria-label": "Speed", title: "Speed (< >)", onchange: () => keep("speed", Number(speed.value)) });

  let toldAt = 0;
  const draw = (at) => {
    const length = clock.length();
    time.value = at;
    line.style.setProperty("--rb-at", length && at / length);
    setText(said, length ? words?.(at / length) || `${at.toFixed(1)} of ${length.toFixed(1)} s` : "");
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
    // Aims at the middle of a frame: its edges are rounded in the file.
    seek((Math.floor(clock.at() * fps() + 0.02) + frames + 0.5) / fps());
  };
  const faster = (way) => () => keep("speed", DECK_SPEEDS.filter((one) => way * (one - get("speed")) > 0).sort((a, b) => way * (a - b))[0] ?? get("speed"));
  time.addEventListener("input", () => seek(Number(time.value)));
  time.addEventListener("pointerdown", () => clock.rest(true));
  for (const kind of ["pointerup", "pointercancel", "change"]) time.addEventListener(kind, () => clock.rest(false));
  frame.onClose(() => {
    clock.stop();
    clearTimeout(resting);
  });
  return {
    clock, keep, seek, toggle, play, draw: () => draw(clock.at()), parts: [play, steps, line, said, speed],
    keys: { " ": toggle, ",": () => step(-1), ".": () => step(1), "<": faster(-1), ">": faster(1) },
    setLength(length) {
      clock.setLength(length);
      time.max = length || 1;
    },
    /** Follows the traits from now on. */
    follow() {
      frame.draw(["speed"], () => {
        const now = get("speed");
        const all = [...new Set([...DECK_SPEEDS, now])].sort((a, b) => a - b);
        speed.replaceChildren(...all.map((one) => h("option", { value: one, selected: one === now }, `${one}×`)));
        clock.setSpeed(now);
      });
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

/** Keys that work anywhere in `wrap`, except where a person types or chooses. */
export function deckKeys(wrap, keys) {
  wrap.addEventListener("keydown", (event) => {
    const { target, key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest("select, textarea, [type=text], [type=search]")) return;
    if ((key === " " && target.tagName === "BUTTON") || !Object.hasOwn(keys, key)) return;
    event.preventDefault();
    event.stopPropagation();
    keys[key](event);
  });
}
