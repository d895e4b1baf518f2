// A clip in the page: fetched in pieces when it is seen, played from a Blob, saved as a file.
import { h, setText, tell } from "./_dom.js";

const ON_DISK = "The clip is on the kernel's disk; run the cell again to play it.";

/**
 * Fetches the clip from the kernel, piece by piece, each asked for after the one before it.
 * @param {(done: number) => void} onPiece 0 to 1
 * @param {string} [key] which of the panel's clips
 * @returns {Promise<Blob>}
 */
export function fetchClip(frame, model, onPiece, key = "") {
  const id = Math.random().toString(36).slice(2);
  const pieces = [];
  return new Promise((resolve, reject) => {
    const ask = () => { if (!tell(model, { name: "chunk", key, id, index: pieces.length })) reject(new Error(ON_DISK)); };
    // Another view of the same model asks under another id.
    frame.listen("msg:custom", (content, buffers) => {
      if (content.name !== "chunk" || content.id !== id || content.index !== pieces.length) return;
      if (content.problem) return reject(new Error(content.problem));
      pieces.push(buffers[0]);
      onPiece(pieces.length / content.total);
      if (pieces.length < content.total) ask();
      else resolve(new Blob(pieces, { type: "video/mp4" }));
    });
    ask();
  });
}

/** @param {Blob} blob @param {string} file */
export function saveFile(blob, file) {
  const url = URL.createObjectURL(blob);
  h("a", { href: url, download: file }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/**
 * A muted, looping player in `stage`. It loads when seen, plays while seen (unless the person paused it or wants
 * less motion) and pauses out of sight.
 * @param {{codec: () => string, label: () => string, autoplay: () => boolean, onWant?: (plays: boolean) => void}} about
 */
export function clipPlayer(frame, model, stage, about) {
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const video = h("video", { muted: true, loop: true, playsinline: true, controls: true, preload: "auto", "aria-label": about.label() });
  video.muted = true; // the attribute alone doesn't mute an element made by script
  const words = h("div", { class: "rb-stage-words", hidden: true });
  stage.append(video, words);
  let url = "";
  let blob = null;
  let fetching = null;
  let seen = false;
  let wanted = about.autoplay() && !still.matches;
  let closed = false;
  const say = (text) => { setText(words, text); words.hidden = !text; };
  let resting = false;
  // What is wanted and what is seen are two things: a clip out of sight rests, and goes on when it is seen again.
  const follow = () => {
    if (!url) return;
    if (seen && wanted) video.play().catch(() => {});
    else if (!video.paused) { resting = wanted; video.pause(); }
  };
  const want = (value) => {
    if (value === wanted) return;
    wanted = value;
    about.onWant?.(value);
  };
  const load = () => {
    fetching ??= (async () => {
      const slow = setTimeout(() => say(ON_DISK), 8000);
      try {
        blob = await fetchClip(frame, model, (done) => { clearTimeout(slow); say(done < 1 ? `Loading the clip: ${Math.floor(done * 100)} %` : ""); });
        if (closed) return null;
        video.src = url = URL.createObjectURL(blob);
        say("");
        about.onWant?.(wanted);
        follow();
      } catch (error) { say(error.message); fetching = null; } finally { clearTimeout(slow); }
      return blob;
    })();
    return fetching;
  };
  const cannotShow = () => url && say(`This browser can't show the clip's codec (${about.codec()}). Save it and play it in another program.`);
  // Chromium plays the time of some codecs that it can't show, without an error.
  video.addEventListener("loadedmetadata", () => video.videoWidth || cannotShow());
  video.addEventListener("error", cannotShow);
  video.addEventListener("play", () => want(true));
  // A video that leaves the page pauses too, and the notebook takes cells out and puts them back: only a pause
  // that a person just asked for is a wish.
  let touched = -Infinity;
  for (const kind of ["pointerdown", "click", "keydown"]) video.addEventListener(kind, () => { touched = performance.now(); });
  video.addEventListener("pause", () => {
    if (!resting && !closed && performance.now() - touched < 1000) want(false);
    resting = false;
  });
  const near = new IntersectionObserver((entries) => {
    seen = entries[entries.length - 1].isIntersecting;
    if (seen) load();
    follow();
  }, { threshold: 0.2 });
  near.observe(stage);
  frame.onClose(() => {
    closed = true;
    near.disconnect();
    video.removeAttribute("src");
    if (url) URL.revokeObjectURL(url);
  });
  return { video, want: (value) => { want(value); follow(); }, save: async (file) => { const whole = await load(); if (whole) saveFile(whole, file); } };
}
