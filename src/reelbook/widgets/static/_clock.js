// One clock for many clips: it starts them together, keeps them at the same time and corrects their drift.

const SLACK = 0.008; // seconds: a small part of a frame, too little to be seen
const FAR = 0.25; // seconds: a clip further off jumps instead of catching up

/**
 * @typedef {{video: HTMLVideoElement, seconds: number, fps: number, sought?: number}} Timed `sought`: the target of the last seek
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
  const last = ({ video, seconds, fps }) => Math.max(0, Math.min(seconds, video.duration || seconds) - 0.5 / fps);
  const going = () => clips().filter((one) => at < last(one));
  const goal = (one) => Math.min(at, last(one));
  const put = (one) => {
    // One seek at a time: the next one begins when this one has ended.
    if (one.video.seeking || Math.abs(one.video.currentTime - goal(one)) < 0.0005) return;
    one.sought = goal(one);
    one.video.currentTime = one.sought;
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
    for (const { video } of clips()) video.pause();
  };
  const start = async () => {
    stop();
    const mine = turn;
    if (at >= length - 0.02) at = 0;
    await Promise.all(clips().map(settled));
    if (mine !== turn) return;
    for (const { video } of clips()) video.playbackRate = speed;
    await Promise.all(going().map(({ video }) => video.play().catch(() => {})));
    if (mine !== turn) return;
    const began = going();
    if (began.length) at = began.reduce((sum, { video }) => sum + video.currentTime, 0) / began.length;
    let before = performance.now();
    const tick = (now) => {
      if (mine !== turn) return;
      // A hidden page draws no frames: afterwards the clock goes on from where it was.
      const passed = Math.min(FAR, Math.max(0, (now - before) / 1000));
      before = now;
      if (going().every(({ video }) => video.readyState > 2)) at += passed * speed;
      if (at >= length) {
        at = length;
        return start(); // from the beginning again
      }
      for (const one of clips()) follow(one);
      onTime(at);
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  };
  const follow = (one) => {
    const { video } = one;
    if (at >= last(one)) {
      if (!video.paused) video.pause();
      return put(one);
    }
    if (video.paused && !video.seeking) video.play().catch(() => {});
    const late = at - video.currentTime;
    if (Math.abs(late) > FAR) return put(one);
    const rate = Math.abs(late) < SLACK ? speed : speed * (1 + Math.max(-0.2, Math.min(0.2, late * 3)));
    if (Math.abs(video.playbackRate - rate) > 0.01 * speed || rate === speed) video.playbackRate = rate;
  };
  const go = () => {
    if (wanted && !rests && clips().length) start();
    else stop();
  };
  return {
    at: () => at,
    wanted: () => wanted,
    length: () => length,
    /** How long it runs, in seconds. */
    setLength: (value) => { length = value; },
    setSpeed: (value) => { speed = value; },
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
      if (wanted && !rests) start();
      else clips().forEach(put);
    },
    /** Adds a clip that has been loaded. */
    join(one) {
      one.video.addEventListener("seeked", () => {
        // The clock went on during the seek.
        if (one.video.paused && Math.abs(one.sought - goal(one)) > 0.0005) put(one);
        onTime(at);
      });
      if (wanted && !rests) start();
      else put(one);
    },
    stop,
  };
}
