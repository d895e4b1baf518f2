// A panel, and what changes in it between two messages: lines that count seconds, and questions to a kernel that sends
// nothing by itself.
import { ask, h, openPanel, setText } from "./_dom.js";

/** "14 s", "2 min 5 s", "1 h 35 min": as reelbook.formatting.seconds says it. */
function spanText(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  const [unit, part, larger, smaller] = whole < 3600 ? [60, 1, "min", "s"] : [3600, 60, "h", "min"];
  const rest = Math.floor((whole % unit) / part);
  return `${Math.floor(whole / unit)} ${larger}${rest ? ` ${rest} ${smaller}` : ""}`;
}

/** @typedef {Array<string | [number, number]>} Line texts, and seconds with how fast they change: 1 or -1 */

/**
 * Draws lines and lets their seconds run until the next lines come. Times are relative: the page's clock may differ.
 * @param {ReturnType<import("./_dom.js").openPanel>} frame
 * @param {HTMLElement} box
 */
export function countingLines(frame, box) {
  let drawn = [];
  let since = performance.now();
  const tick = () => {
    const passed = (performance.now() - since) / 1000;
    for (const [node, line] of drawn) setText(node, lineText(line, passed));
  };
  frame.every(500, tick);
  return (lines) => {
    since = performance.now();
    while (drawn.length > lines.length) drawn.pop()[0].remove();
    drawn = lines.map((line, place) => [drawn[place] ? drawn[place][0] : box.appendChild(h("span")), line]);
    tick();
  };
}

/** The line as it reads `passed` seconds after it came. @param {Line} line @param {number} passed */
export function lineText(line, passed) {
  return line.map((part) => typeof part === "string" ? part : counted(part, passed)).join("");
}

function counted([seconds, rate], passed) {
  const now = seconds + rate * passed;
  // Never "in 0 s": that would stand there for as long as the answer takes.
  return spanText(rate < 0 ? Math.max(1, now) : now);
}

/**
 * Says hello when a view opens, and asks the kernel for news while something is live: every second where updates can't
 * come by themselves (`asks`, Colab), otherwise only when nothing came for a while. One question at a time.
 * @param {string} [silenceText] the message for as long as the kernel doesn't answer
 */
function keepAsking(frame, model, silenceText) {
  let heard = performance.now();
  let asked = 0;
  let lived = -1e9;
  let silent = false;
  let visible = false;
  let wanted = false; // somebody came to the panel and hasn't been answered yet
  const setSilent = (now) => {
    if (silent === now) return;
    silent = now;
    if (!silenceText) return;
    if (!silent) frame.showMessage(model.get("message"));
    else if (model.get("live")) frame.showMessage({ text: silenceText, tone: "info" });
  };
  const answered = () => {
    heard = performance.now();
    setSilent(false);
  };
  frame.listen("change", answered);
  frame.listen("msg:custom", answered);
  const observer = new IntersectionObserver((entries) => { visible = entries.some((entry) => entry.isIntersecting); });
  observer.observe(frame.root);
  const question = async (name) => {
    asked = performance.now();
    wanted = false;
    if (await ask(frame, model, { name })) asked = 0;
    else setSilent(true);
  };
  frame.every(1000, () => {
    const now = performance.now();
    if (asked && now - asked > 12000) setSilent(true);
    // What a job leaves behind, such as the balance, follows a little later.
    if (model.get("live")) lived = now;
    if ((now - lived > (model.get("asks") ? 6000 : 0) && !wanted) || !visible || document.hidden) return;
    if (now - heard < (model.get("asks") ? 900 : 15000) || (asked && now - asked < 30000)) return;
    question("ask");
  });
  // Where nothing comes by itself, an idle panel asks when a person turns to it.
  const look = () => {
    wanted = model.get("asks");
    if (wanted && !asked && performance.now() - heard > 900) question("ask");
  };
  for (const kind of ["pointerenter", "focusin"]) frame.root.addEventListener(kind, look);
  frame.onClose(() => observer.disconnect());
  question("hello");
}

/**
 * A panel, each of whose views `fill` draws.
 * @param {string} stem
 * @param {string} label
 * @param {(frame: ReturnType<import("./_dom.js").openPanel>, model: any) => void} fill
 * @param {string} [silenceText] as in `keepAsking`
 */
export const panel = (stem, label, fill, silenceText) => ({
  render({ model, el }) {
    const frame = openPanel(model, el, stem, label);
    fill(frame, model);
    keepAsking(frame, model, silenceText);
    return frame.close;
  },
});
