// A clip that plays in the page: loaded when it comes into view, released when it has been out of view for long.
import { h, showText } from "./_dom.js";
import { fetchClip, hold, letGo, loadClip, releaseClip, saveFile, silentVideo } from "./_fetch.js";
import { playerBar } from "./_player.js";

/**
 * A muted, looping player in `stage`, with slim controls at its lower edge, or below it in `wrap`. It loads when it
 * comes into view and plays while it is in view, unless the person paused it or wants less motion. Out of view it
 * pauses, and releases its clip once many others are loaded; later it goes on where it was.
 * @param {{codec: () => string, label: () => string, autoplay: () => boolean, key?: string, wrap?: HTMLElement,
 *   fps?: () => number, start?: number, onWant?: (plays: boolean) => void,
 *   fetch?: typeof import("./_fetch.js").fetchClip}} about
 *   `key`: which of the panel's clips; `fetch`: for a panel that keeps clips itself
 */
export function clipPlayer(frame, model, stage, about) {
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const video = silentVideo(null, { loop: true, tabindex: 0, "aria-label": about.label() });
  const words = h("div", { class: "rb-stage-words", hidden: true });
  const listening = [];
  // A closed player stops asking for pieces, though its frame may stay.
  const inner = {
    listen(event, callback) {
      const end = () => model.off(event, callback);
      model.on(event, callback);
      listening.push(end);
      return end;
    },
  };
  let url = "";
  let blob = null;
  let fetching = null;
  let seen = false;
  let rests = false;
  let wanted = about.autoplay() && !still.matches;
  let closed = false;
  let at = about.start || 0;
  const say = (text) => showText(words, text);
  // A clip that is to play rests while it is out of view, and goes on when it is in view again.
  const follow = () => {
    if (!url) return;
    if (seen && wanted && !rests) video.play().catch(() => {});
    else video.pause();
  };
  const want = (value) => {
    if (value) rests = false;
    if (value !== wanted) {
      wanted = value;
      about.onWant?.(value);
    }
    follow();
  };
  const rest = (value) => { rests = value; follow(); };
  const load = () => {
    fetching ??= (async () => {
      try {
        blob = await loadClip(inner, model, say, about.key, about.fetch);
        if (closed) return null;
        video.src = url = URL.createObjectURL(blob);
        if (at) video.currentTime = at;
        say("");
        hold(one);
        about.onWant?.(wanted);
        follow();
      } catch (error) {
        say(error.message);
        fetching = null;
      }
      return blob;
    })();
    return fetching;
  };
  const drop = () => {
    if (!url) return;
    at = video.currentTime;
    url = "";
    blob = fetching = null;
    releaseClip(video);
  };
  const one = {
    free() {
      if (!seen) drop();
      return !url;
    },
  };
  const cannotShow = () => {
    const what = `This browser can't show the clip's codec (${about.codec()}).`;
    if (url) say(`${what} Save it and play it in another program.`);
  };
  // With some codecs Chromium runs the time but shows no picture, without an error.
  video.addEventListener("loadedmetadata", () => video.videoWidth || cannotShow());
  video.addEventListener("error", cannotShow);
  // A pause alone isn't the person's: a video also pauses when the notebook moves its cell.
  video.addEventListener("play", () => video.paused || want(true));
  video.addEventListener("ended", () => want(false));
  const near = new IntersectionObserver((entries) => {
    seen = entries[entries.length - 1].isIntersecting;
    if (seen) {
      if (url) hold(one);
      load();
    }
    follow();
  }, { threshold: 0.2 });
  const controls = playerBar(video, about.wrap || stage, { want, rest, fps: about.fps });
  stage.append(video, words);
  (about.wrap || stage).append(controls.bar);
  near.observe(stage);
  const close = () => {
    if (closed) return;
    closed = true;
    near.disconnect();
    for (const end of listening) end();
    letGo(one);
    drop();
    controls.end();
    for (const part of [video, words, controls.bar]) part.remove();
  };
  frame.onClose(close);
  const go = (to) => { if (url) video.currentTime = to; else at = to; };
  const save = async (file) => {
    try {
      const whole = (...given) => fetchClip(...given, true);
      saveFile(await loadClip(inner, model, say, about.key, whole), file);
    } catch ({ message }) { say(message); }
  };
  return { ...controls, video, want, rest, go, close, save };
}
