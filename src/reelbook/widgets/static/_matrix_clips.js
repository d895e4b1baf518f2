// The clips of a matrix: fetched once somebody turned to it, decoded while in view. What was fetched stays for a while,
// so that it isn't fetched twice.
import { clipsInView, fetchClip, releaseClip, silentVideo } from "./_fetch.js";

const FETCHED_AT_ONCE = 3; // clips
const KEPT_BYTES = 40e6; // of clips that aren't in view

/**
 * @param {HTMLElement} wrap the whole matrix: out of view nothing plays
 * @param {Map<number, import("./_matrix_cell.js").Cell>} cells by number
 * @param {{clock: () => any, draw: (one: any) => void}} about `draw`: the cell has changed
 */
export function matrixClips(frame, model, wrap, cells, { clock, draw }) {
  const visible = new Set();
  const blobs = new Map(); // by number, the one used longest ago first
  let awake = false;
  let gathers = false; // until all clips in view are there to be started together
  let fetching = 0;
  const rest = () => clock().rest(!inView.seen() || gathers);
  const blobOf = async (one, told = () => {}) => {
    const had = blobs.get(one.n);
    if (had?.clip === one.now.clip) {
      blobs.delete(one.n);
      blobs.set(one.n, had);
      told(1);
      return had.blob;
    }
    const { clip } = one.now;
    const blob = await fetchClip(frame, model, told, String(one.n));
    blobs.set(one.n, { clip, blob });
    let bytes = 0;
    for (const [n, each] of [...blobs].reverse()) {
      bytes += each.blob.size;
      if (bytes > KEPT_BYTES && !visible.has(cells.get(n))) blobs.delete(n);
    }
    return blob;
  };
  const fail = (one, problem) => {
    one.failed = problem;
    draw(one);
  };
  const wanting = () => [...visible].filter((one) => one.now.clip && !one.timed && !one.failed);
  const load = () => {
    if (!awake || !inView.seen()) return;
    inView.hold();
    for (const one of wanting()) {
      if (fetching >= FETCHED_AT_ONCE) break;
      if (one.fetching) continue;
      one.fetching = true;
      fetching += 1;
      const come = (blob) => visible.has(one) && show(one, blob);
      blobOf(one).then(come, (error) => fail(one, error.message)).finally(() => {
        one.fetching = false;
        fetching -= 1;
        load();
      });
    }
    if (gathers && !wanting().length && [...visible].every((one) => !one.timed || one.timed.video.readyState > 1)) {
      gathers = false;
      rest();
    }
  };
  const show = (one, blob) => {
    const video = silentVideo(blob, { tabindex: -1, "aria-hidden": "true" });
    one.timed = { video, seconds: one.now.seconds, fps: one.now.fps, clip: one.now.clip };
    const cannotShow = () => {
      if (!video.src) return;
      fail(one, "This browser can't show the clip's codec.");
      load();
    };
    video.addEventListener("error", cannotShow);
    video.addEventListener("loadedmetadata", () => {
      if (!video.videoWidth) cannotShow();
      else if (one.timed) clock().join(one.timed);
    }, { once: true });
    video.addEventListener("loadeddata", () => {
      video.className = "rb-ready";
      load();
    }, { once: true });
    one.parts.img.after(video);
  };
  const leave = (one) => {
    visible.delete(one);
    one.failed = "";
    if (!one.timed) return;
    const { video } = one.timed;
    one.timed = null;
    releaseClip(video);
    video.remove();
  };
  const leaveAll = () => {
    for (const one of cells.values()) leave(one);
  };
  const wake = () => {
    if (awake) return;
    awake = true;
    load();
  };
  const near = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const one = cells.get(Number(target.dataset.n));
      if (!one) continue;
      if (isIntersecting) visible.add(one);
      else leave(one);
    }
    load();
  });
  const inView = clipsInView(frame, wrap, {
    onSeen() {
      rest();
      load();
    },
    free() {
      leaveAll();
      blobs.clear();
    },
  });
  for (const kind of ["pointerenter", "focusin"]) wrap.addEventListener(kind, wake);
  frame.onClose(() => near.disconnect());
  return {
    blobOf, load, leave,
    /** The loaded ones, for the clock. */
    timed: () => [...visible].filter((one) => one.timed?.video.readyState).map((one) => one.timed),
    watch: (one) => near.observe(one.node),
    /** Gives back all clips: other cells come. */
    clear() {
      leaveAll();
      for (const one of cells.values()) near.unobserve(one.node);
      blobs.clear();
    },
    /** A cell's clip has become another one. */
    changed(one) {
      if (!one.timed || one.timed.clip === one.now.clip) return;
      const was = visible.has(one);
      leave(one);
      if (was) visible.add(one);
    },
    /** Loads what is in view, to be started together. */
    gather() {
      awake = gathers = true;
      rest();
      load();
    },
  };
}
