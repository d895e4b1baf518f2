// Posters of many clips: requested a few at a time when they come near the screen, and released later.
import { ask } from "./_dom.js";

const AT_A_TIME = 20;
const KEPT = 300;

/**
 * Fills pictures from the kernel. `show(img, key)` gives `img` the poster of that clip, `forget(img)` ends it.
 * Without a poster the picture stays hidden.
 */
export function posters(frame, model) {
  // By key, the oldest first.
  const urls = new Map();
  // The key of each picture.
  const wanted = new Map();
  const near = new Set();
  let asking = false;
  let timer = 0;
  const drop = (key) => {
    if (urls.get(key)) URL.revokeObjectURL(urls.get(key));
    urls.delete(key);
  };
  const draw = (img) => {
    const url = urls.get(wanted.get(img));
    if (url && img.src !== url) img.src = url;
    img.hidden = !url;
  };
  const observer = new IntersectionObserver((entries) => {
    // A hidden picture intersects nothing, so its parent is observed.
    for (const { target, isIntersecting } of entries) {
      for (const img of target.querySelectorAll("img")) {
        if (isIntersecting && wanted.has(img)) near.add(img);
        else near.delete(img);
      }
    }
    fetchSoon();
  }, { rootMargin: "300px" });
  const fetchSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(fetchMissing, 60);
  };
  const fetchMissing = async () => {
    const missing = (key) => key && !urls.has(key);
    const keys = [...near].map((img) => wanted.get(img)).filter(missing).slice(0, AT_A_TIME);
    if (!keys.length || asking) return;
    asking = true;
    const answer = await ask(frame, model, { name: "posters", keys });
    if (!answer) return;
    asking = false;
    keys.forEach((key, place) => {
      const bytes = answer.buffers[place];
      drop(key);
      urls.set(key, bytes && bytes.byteLength ? URL.createObjectURL(new Blob([bytes], { type: "image/jpeg" })) : "");
    });
    const shown = new Set(wanted.values());
    for (const key of urls.keys()) {
      if (urls.size <= KEPT) break;
      if (!shown.has(key)) drop(key);
    }
    for (const img of wanted.keys()) draw(img);
    fetchSoon();
  };
  frame.onClose(() => {
    observer.disconnect();
    clearTimeout(timer);
    for (const url of urls.values()) URL.revokeObjectURL(url);
  });
  return {
    show(img, key) {
      if (wanted.get(img) === key) return;
      wanted.set(img, key);
      observer.observe(img.parentElement);
      draw(img);
      fetchSoon();
    },
    forget(img) {
      const key = wanted.get(img);
      if (!urls.get(key)) urls.delete(key); // it may have a poster by the time it is shown again
      wanted.delete(img);
      near.delete(img);
      if (img.parentElement) observer.unobserve(img.parentElement);
    },
  };
}
