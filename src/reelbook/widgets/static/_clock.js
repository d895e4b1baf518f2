// One clock for many clips: it starts them together, keeps them at the same time and corrects their drift.

const SLACK = 0.008; // seconds: a small part of a frame, too little to be seen
const FAR = 0.25; // seconds: a clip further off jumps instead of catching up

/**
 * @typedef {{video: HTMLVideoElement, seconds: number, fps: number, behind?: boolean}} Timed
 *   `behind`: it joined while the others play, and nobody waits for it
 * @param {() => Timed[]} clips the loaded ones
 * @param {(at: number) => void} onTime called for every moment, while playing and after a seek
 */
export function commonClock(clips, onTime) {
  let at = 0;
  let speed = 1;
  let wanted = false;
  let rests = false;
  let turn = 0; // counts the starts: one that is still waiting when the next begins gives up
  let length = 0;
  let byPart = false;
  let ticking = false;
  const last = ({ video, seconds, fps }) => Math.max(0, Math.min(seconds, video.duration || seconds) - 0.5 / fps);
  /** How fast a clip's own time passes: by part of the length all clips begin and end together. */
  const pace = (one) => (byPart && length ? one.seconds / length : 1);
  const going = () => clips().filter((one) => at * pace(one) < last(one));
  const goal = (one) => Math.min(at * pace(one), last(one));
  /** Whether it seeks. One seek at a time: the next one begins when this one has ended. */
  const put = (one) => {
    if (one.video.seeking || Math.abs(one.video.currentTime - goal(one)) < 0.0005) return false;
    aim(one, 2000);
    return true;
  };
  // On a busy machine Chromium may lose one of many seeks: it is asked again, each time after a longer wait.
  const aim = (one, patience) => {
    one.video.currentTime = goal(one);
    clearTimeout(one.again);
    one.again = setTimeout(() => one.video.seeking && aim(one, 2 * patience), patience);
  };
  const settled = async (one) => {
    put(one);
    for (let tries = 0; one.video.seeking && tries < 3; tries += 1) {
      await new Promise((done) => {
        one.video.addEventListener("seeked", done, { once: true });
        setTimeout(done, 1000); // a clip that can't seek must not hold up the others
      });
    }
  };
  const stop = () => {
    turn += 1;
    ticking = false;
    for (const { video } of clips()) video.pause();
  };
  const start = async () => {
    stop();
    const mine = turn;
    if (at >= length - 0.02) at = 0;
    await Promise.all(clips().map(settled));
    if (mine !== turn) return;
    for (const one of clips()) {
      one.video.playbackRate = speed * pace(one);
      one.behind = false;
    }
    await Promise.all(going().map(({ video }) => video.play().catch(() => {})));
    if (mine !== turn) return;
    const began = going();
    if (began.length) at = began.reduce((sum, one) => sum + one.video.currentTime / pace(one), 0) / began.length;
    ticking = true;
    let before = performance.now();
    const tick = (now) => {
      if (mine !== turn) return;
      // A hidden page draws no frames: afterwards the clock goes on from where it was.
      const passed = Math.min(FAR, Math.max(0, (now - before) / 1000));
      before = now;
      if (going().every(({ video, behind }) => behind || video.ended || video.readyState > 2)) at += passed * speed;
      if (at >= length) {
        at = length;
        return start(); // from the beginning again
      }
      for (const one of clips()) follow(one, passed);
      onTime(at);
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  };
  const follow = (one, passed) => {
    const { video } = one;
    if (at * pace(one) >= last(one)) {
      if (!video.paused) video.pause();
      return put(one);
    }
    const late = goal(one) - video.currentTime;
    if (Math.abs(late) > FAR) return put(one);
    // A clip a little ahead may have come to its end: played again, it would begin anew and hold up the others.
    if (video.ended) return;
    if (video.paused && !video.seeking) video.play().catch(() => {});
    if (Math.abs(late) < 2 * SLACK) one.behind = false;
    const even = speed * pace(one);
    // Clips that start together don't come on at once: what is late catches up soon, but in no fewer than two frames.
    const catchUp = Math.max(-0.5, Math.min(0.5, late / Math.max(0.16, 2 * passed)));
    const rate = Math.abs(late) < SLACK ? even : even * (1 + catchUp);
    if (Math.abs(video.playbackRate - rate) > 0.01 * speed || rate === even) video.playbackRate = rate;
  };
  const go = () => {
    if (wanted && !rests && clips().length) start();
    else {
      stop();
      clips().forEach(put); // a machine that is late leaves them apart
    }
  };
  return {
    at: () => at,
    wanted: () => wanted,
    length: () => length,
    /** How long it runs, in seconds. */
    setLength: (value) => { length = value; },
    setSpeed: (value) => { speed = value; },
    /** Whether clips of different length go by part of their length, instead of by time. */
    setByPart(value) {
      byPart = value;
      if (!wanted) clips().forEach(put);
    },
    want(value) {
      wanted = value;
      go();
    },
    /** Pauses while the time line is held or the panel is out of view, and goes on afterwards. */
    rest(value) {
      if (rests === value) return;
      rests = value;
      go();
    },
    /** Goes to that moment, and pauses or plays on from there. */
    seek(value) {
      at = Math.max(0, Math.min(value, length));
      onTime(at);
      go();
    },
    /** Adds a clip that has been loaded. */
    join(one) {
      let missed = NaN; // the moment that the last seek missed
      one.video.addEventListener("seeked", () => {
        // The clock went on during the seek, or the seek was somebody else's. A browser that misses is asked once more.
        if (one.video.paused && !one.video.seeking) missed = missed !== goal(one) && put(one) ? goal(one) : NaN;
        onTime(at);
      });
      if (!wanted || rests) return put(one);
      if (ticking) one.behind = true;
      else start();
    },
    stop,
  };
}
