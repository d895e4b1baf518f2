// Fetches clips from the kernel in pieces, as Blobs that can be saved, and holds only a few of them at a time.
import { ask, h } from "./_dom.js";

const ON_DISK = "The clip is on the kernel's disk; run the cell again to play it.";

/**
 * Fetches a clip, or what was saved, from the kernel, one piece after the other.
 * @param {(done: number) => void} onPiece 0 to 1
 * @param {string} [key] which of the panel's clips
 * @param {boolean} [passport] whether what made it is in the file
 * @returns {Promise<Blob>}
 */
export async function fetchClip(frame, model, onPiece, key = "", passport = false) {
  const pieces = [];
  for (let total = 1; pieces.length < total;) {
    const answer = await ask(frame, model, { name: "chunk", key, index: pieces.length, passport });
    if (!answer?.total) throw new Error(answer?.problem || ON_DISK);
    total = answer.total;
    pieces.push(answer.buffers[0]);
    onPiece(pieces.length / total);
  }
  return new Blob(pieces, { type: key === "saved" ? "application/octet-stream" : "video/mp4" });
}

/**
 * `fetch`, and says how far it is; after a while that nothing comes.
 * @param {(text: string) => void} say
 * @param {typeof fetchClip} [fetch]
 */
export async function loadClip(frame, model, say, key, fetch = fetchClip) {
  const slow = setTimeout(() => say(ON_DISK), 8000);
  const told = (done) => {
    clearTimeout(slow);
    say(done < 1 ? `Loading the clip: ${Math.floor(done * 100)} %` : "");
  };
  try {
    return await fetch(frame, model, told, key);
  } finally { clearTimeout(slow); }
}

/** A video without sound of a clip that was fetched. @param {Blob} blob */
export function silentVideo(blob, attributes) {
  const video = h("video", { playsinline: true, preload: "auto", ...attributes });
  video.muted = true; // the attribute alone doesn't mute an element made by script
  if (blob) video.src = URL.createObjectURL(blob);
  return video;
}

/** Takes the clip out of a video, and out of the memory. @param {HTMLVideoElement} video */
export function releaseClip(video) {
  URL.revokeObjectURL(video.src);
  video.removeAttribute("src");
  video.load(); // or the decoder keeps the clip
}

/** @param {Blob} blob @param {string} file */
export function saveFile(blob, file) {
  const url = URL.createObjectURL(blob);
  h("a", { href: url, download: file }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

const HELD = 8;
// Counted for the whole page, because each panel has a module of its own.
const held = (globalThis[Symbol.for("reelbook.held")] ??= new Set());

/** `one` is in view. If many clips are loaded, those out of view for the longest are released. */
export function hold(one) {
  held.delete(one);
  held.add(one);
  for (const old of held) if (held.size > HELD && old.free()) held.delete(old);
}

/** `one` has left the page. */
export const letGo = (one) => held.delete(one);

/**
 * For a panel of several clips: loaded when it is seen, they are freed at its end, and out of view once many others are
 * loaded.
 * @param {{onSeen: (seen: boolean) => void, free: () => void}} about
 * @returns {{seen: () => boolean, hold: () => void}} `hold`: to be called whenever clips are loaded
 */
export function clipsInView(frame, node, { onSeen, free }) {
  let seen = false;
  const one = {
    free() {
      if (!seen) free();
      return !seen;
    },
  };
  const near = new IntersectionObserver((entries) => {
    seen = entries[entries.length - 1].isIntersecting;
    onSeen(seen);
  });
  near.observe(node);
  frame.onClose(() => {
    near.disconnect();
    letGo(one);
    free();
  });
  return { seen: () => seen, hold: () => hold(one) };
}
