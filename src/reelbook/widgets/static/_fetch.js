// A clip comes to the page: in pieces when it is seen, as a Blob that can be saved; few are held at a time.
import { h, tell } from "./_dom.js";

export const ON_DISK = "The clip is on the kernel's disk; run the cell again to play it.";

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
    const hear = (content, buffers) => {
      if (content.name !== "chunk" || content.id !== id || content.index !== pieces.length) return;
      if (content.problem) return reject(new Error(content.problem));
      pieces.push(buffers[0]);
      onPiece(pieces.length / content.total);
      if (pieces.length < content.total) return ask();
      model.off("msg:custom", hear);
      resolve(new Blob(pieces, { type: "video/mp4" }));
    };
    frame.listen("msg:custom", hear);
    ask();
  });
}

/** @param {Blob} blob @param {string} file */
export function saveFile(blob, file) {
  const url = URL.createObjectURL(blob);
  h("a", { href: url, download: file }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

const HELD = 8;
// How many clips are loaded is counted for the whole page: each panel's module is its own.
const held = (globalThis[Symbol.for("reelbook.held")] ??= new Set());

/** `one` was seen just now. Of many loaded clips, those that have been out of sight the longest are given back. */
export function hold(one) {
  held.delete(one);
  held.add(one);
  for (const old of held) if (held.size > HELD && old.free()) held.delete(old);
}

/** It is gone from the page. */
export const letGo = (one) => held.delete(one);
