// Tells a person who looks elsewhere that clips have ended. It has no view: the page runs it with the first panel.
import { noticesChosen } from "./_notices.js";

const PREFIX = /^(\d+) (\w+) · /;
let keep = null;

/**
 * Once for all that ran together.
 * @typedef {{number: number, head: string, body: string, count: number, word: string}} Notice `count` and `word`: what
 *   the tab's title begins with
 */

/** A soft sound of two notes, made here: there is no file to load. */
function sound() {
  const context = new AudioContext();
  for (const [pitch, after] of [[660, 0], [880, 0.15]]) {
    const [tone, volume] = [context.createOscillator(), context.createGain()];
    const at = context.currentTime + after;
    tone.frequency.value = pitch;
    volume.gain.setValueAtTime(0, at);
    volume.gain.linearRampToValueAtTime(0.08, at + 0.03);
    volume.gain.exponentialRampToValueAtTime(0.0001, at + 0.5);
    tone.connect(volume).connect(context.destination);
    tone.start(at);
    tone.stop(at + 0.5);
  }
  setTimeout(() => context.close(), 1000);
}

/** Puts it before the tab's title for as long as nobody looks; the notebook writes its own title again and again. */
function entitle(count, word) {
  const [, before, same] = PREFIX.exec(document.title) || [];
  const prefix = `${count + (same === word ? Number(before) : 0)} ${word} · `;
  document.title = prefix + document.title.replace(PREFIX, "");
  keep?.disconnect();
  keep = new MutationObserver(() => {
    if (!document.hidden) keep.disconnect();
    else if (!PREFIX.test(document.title)) document.title = prefix + document.title;
  });
  keep.observe(document.head, { subtree: true, childList: true, characterData: true });
}

function tellAway({ head, body, count, word }, tag) {
  entitle(count, word);
  const { on, sounds } = noticesChosen();
  if (!on) return;
  try {
    // Another tab of the same kernel may tell the same: what has the same tag is shown once.
    const shown = new Notification(head, { body, tag });
    shown.onclick = () => { window.focus(); shown.close(); };
    if (sounds) sound();
  } catch (error) { console.debug("[reelbook] the browser shows no notification here:", error); }
}

function initialize({ model }) {
  const name = `reelbook-${model.get("kernel")}`;
  // Whatever page of the kernel is in front holds this lock: then no other page tells anything.
  let release = () => {};
  const look = () => {
    release();
    if (document.hidden) return;
    document.title = document.title.replace(PREFIX, "");
    navigator.locks?.request(name, { mode: "shared" }, () => new Promise((done) => {
      release = done;
      if (document.hidden) done();
    }));
  };
  const tell = () => {
    const notice = model.get("notice");
    if (!document.hidden) return;
    const alone = (lock) => {
      if (!lock) return null;
      tellAway(notice, `${name}-${notice.number}`);
      return new Promise((done) => setTimeout(done, 3000)); // the other pages have heard of it by then
    };
    if (navigator.locks) navigator.locks.request(name, { ifAvailable: true }, alone);
    else alone(true);
  };
  document.addEventListener("visibilitychange", look);
  model.on("change:notice", tell);
  look();
  return () => {
    document.removeEventListener("visibilitychange", look);
    model.off("change:notice", tell);
    release();
  };
}

export default { initialize };
