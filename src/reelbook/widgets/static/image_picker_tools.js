// The tools that the image picker loads when it is first used: sending files in pieces, camera, recent images, crop.
import {
  BUSY, GONE, ask, drawProgress, filledButton, focusedNode, freshId, h, plainButton, progressBar, segment, setText,
  tell,
} from "./_dom.js";
import { shrink } from "./_shrink.js";

/**
 * What the kernel says with these tools: how large a file, a piece of it (bytes) and a picture's side (pixels) may be,
 * and the shapes that are offered.
 * @typedef {{bytes: number, piece: number, side: number, ratios: string[]}} Limits
 */

/** @param {{limits: Limits, [part: string]: any}} given from _picker.js: its elements, `show` for problems, `shown` */
export function pickerTools({ frame, model, limits, show, shown, ...parts }) {
  const { zone, whole, picture, words, choose, camera, recent } = parts;
  /** Asks the kernel, and says so if that takes long, while the answer is still `wanted`. */
  const question = async (content, buffers, wanted = () => true) => {
    const slow = setTimeout(() => wanted() && show(BUSY), 5000);
    const answer = await ask(frame, model, content, buffers);
    clearTimeout(slow);
    return answer || { problem: GONE };
  };

  // A file on its way
  const bar = progressBar("Sending the image");
  const sendingWords = h("span", { class: "rb-quiet" });
  const callBack = plainButton("Don't send", () => {
    stop();
    show("");
  });
  const sending = h("div", { class: "rb-sending", hidden: true },
    bar, h("div", { class: "rb-acts" }, sendingWords, callBack));
  words.append(sending);
  let transfer = 0;
  const stop = () => {
    transfer += 1;
    ended();
  };
  const ended = () => {
    if (sending.contains(focusedNode())) choose.focus();
    sending.hidden = true;
  };
  const progress = (share, text) => {
    drawProgress(bar, share);
    setText(sendingWords, text);
  };
  const take = async (file) => {
    if (!file) return;
    closePanes();
    stop();
    const mine = transfer;
    show("");
    if (file.size > limits.bytes) {
      const [is, most] = [file.size, limits.bytes].map((bytes) => Math.round(bytes / 1048576));
      return show(`The file is ${is} MB; the limit for an image is ${most} MB. Nothing was sent.`);
    }
    progress(0, "Getting the image ready");
    sending.hidden = false;
    let small = null;
    // A file that the browser can't read is sent as it is, and Python says what is wrong with it.
    try { small = await shrink(file, limits.side); } catch { /* as above */ }
    const body = small ? small.blob : file;
    const id = freshId("send");
    const total = Math.max(1, Math.ceil(body.size / limits.piece));
    try {
      for (let index = 0; index < total && mine === transfer; index += 1) {
        progress(index / total, `Sending · ${Math.round((index / total) * 100)} %`);
        const piece = await body.slice(index * limits.piece, (index + 1) * limits.piece).arrayBuffer();
        const first = small && !index;
        const content = { name: "image", id, index, total, size: body.size, ...(first ? { made: small.made } : {}) };
        const buffers = [piece, ...(first ? small.segments : [])];
        const answer = await question(content, buffers, () => mine === transfer);
        if (mine !== transfer) return;
        show(answer.problem || "");
        if (answer.problem) break;
      }
    } catch {
      if (mine === transfer) show("The file can't be read. Nothing was sent.");
    }
    if (mine === transfer) ended();
  };

  // Panes under the picture: one at a time, left by Escape
  const panes = h("div", { class: "rb-panes" });
  zone.after(panes);
  let leave = () => {};
  const closePanes = () => {
    const left = leave;
    leave = () => {};
    panes.replaceChildren();
    left();
  };
  const openPane = (opener, label, children, onLeave = () => {}) => {
    closePanes();
    leave = () => {
      opener.removeAttribute("aria-expanded");
      onLeave();
    };
    opener.setAttribute("aria-expanded", "true");
    const onkeydown = (event) => event.key === "Escape" && shut(opener);
    panes.append(h("div", { class: "rb-pane", role: "group", "aria-label": label, onkeydown }, ...children));
  };
  const shut = (opener) => {
    closePanes();
    opener.focus();
  };
  const isOpen = (opener) => opener.hasAttribute("aria-expanded");

  const openCamera = async () => {
    if (isOpen(camera)) return shut(camera);
    if (!navigator.mediaDevices) {
      return show("This page may not use a camera. Browsers allow it over https and on localhost only.");
    }
    const video = h("video", { muted: true, playsinline: true, "aria-label": "What the camera sees" });
    video.muted = true;
    const snap = filledButton("Take the picture", () => {
      const canvas = h("canvas", { width: video.videoWidth, height: video.videoHeight });
      canvas.getContext("2d").drawImage(video, 0, 0);
      canvas.toBlob((blob) => {
        take(blob);
        choose.focus();
      }, "image/jpeg", 0.92);
    });
    const state = h("span", { class: "rb-quiet" }, "Waiting for the camera");
    snap.hidden = true;
    let stream = null;
    let open = true;
    // The camera is switched off when the picker is no longer shown.
    const seen = new IntersectionObserver(() => open && !shown() && closePanes());
    const off = () => {
      open = false;
      seen.disconnect();
      if (stream) stream.getTracks().forEach((track) => track.stop());
    };
    const acts = h("div", { class: "rb-acts" }, snap, plainButton("Close", () => shut(camera)), state);
    openPane(camera, "Camera", [video, acts], off);
    seen.observe(video);
    try {
      const size = { width: { ideal: 1920 }, height: { ideal: 1080 } };
      stream = await navigator.mediaDevices.getUserMedia({ video: size });
      if (!open) return off();
      stream.getVideoTracks()[0].onended = () => {
        if (!open) return;
        closePanes();
        show("The camera was switched off.");
      };
      video.srcObject = stream;
      await video.play();
      snap.hidden = false;
      setText(state, "The picture stays here until you send it.");
      frame.say("The camera is on.");
      snap.focus();
    } catch (error) {
      if (!open) return;
      shut(camera);
      show({
        NotAllowedError: "The browser didn't give this page the camera. Allow it beside the address, then press again.",
        NotFoundError: "No camera was found.",
        NotReadableError: "The camera is in use elsewhere. Close the other program, then press again.",
      }[error.name] || "The camera didn't start.");
    }
  };

  const openRecent = async () => {
    if (isOpen(recent)) return shut(recent);
    drawRecent(await question({ name: "recent" }));
  };
  const drawRecent = ({ problem, items, words: where, buffers }) => {
    if (!items) return show(problem || "");
    const urls = [];
    const tiles = items.map((item, place) => {
      urls.push(URL.createObjectURL(new Blob([buffers[place]], { type: "image/jpeg" })));
      return plainButton(h("img", { alt: "", src: urls[place] }), async () => {
        shut(choose);
        stop();
        const answer = await question({ name: "take_recent", key: item.key });
        show(answer.problem || "");
      }, { class: "rb-tile", tabindex: place ? -1 : 0, "aria-label": item.words });
    });
    const step = (event) => {
      const at = tiles.indexOf(event.target);
      const [on, back] = [at + 1, at - 1];
      const keys = { ArrowRight: on, ArrowDown: on, ArrowLeft: back, ArrowUp: back, Home: 0, End: tiles.length - 1 };
      const to = keys[event.key];
      if (to === undefined || at < 0) return;
      event.preventDefault();
      if (!tiles[to]) return;
      tiles.forEach((tile, place) => { tile.tabIndex = place === to ? 0 : -1; });
      tiles[to].focus();
    };
    const grouped = { role: "group", "aria-label": "Recent images", onkeydown: step };
    const grid = items.length ? [h("div", { class: "rb-tiles", ...grouped }, ...tiles)] : [];
    const close = plainButton("Close", () => shut(recent));
    const forget = plainButton("Forget them", async () => {
      drawRecent(await question({ name: "forget_recent" }));
      frame.say("The recent images are forgotten.");
    });
    const acts = h("div", { class: "rb-acts" }, ...(items.length ? [forget] : []), close);
    const revoke = () => urls.forEach((url) => URL.revokeObjectURL(url));
    openPane(recent, "Recent images", [...grid, h("div", { class: "rb-quiet" }, where), acts], revoke);
    (tiles[0] || close).focus();
  };

  // The part that is sent: a frame over the picture that moves along the one side with room
  const cut = (ratio) => setCrop(ratio ? { x: 0.5, y: 0.5, ...crop, ratio } : null);
  const shapes = ["", ...limits.ratios].map((ratio) => [ratio, ratio || "As it is"]);
  const ratios = segment("Shape of the image", shapes, cut, { class: "rb-ratios" });
  const shapeWords = h("span", { class: "rb-quiet" }, "The image is sent in this shape.");
  const shapeRow = h("div", { class: "rb-shape" }, ratios.node, shapeWords);
  const slides = { role: "slider", tabindex: 0, "aria-valuemin": 0, "aria-valuemax": 100 };
  const part = h("div", { class: "rb-part", "aria-label": "Part of the image that is sent", ...slides });
  whole.append(part);
  words.append(shapeRow);
  let crop = null;
  let later = 0;
  let dragged = null;
  const setCrop = (value, wait = 0) => {
    crop = value;
    drawCrop();
    clearTimeout(later);
    later = setTimeout(() => {
      later = 0;
      if (!tell(model, { name: "crop", crop })) show(GONE);
    }, wait);
  };
  /** Where the frame is: its size, the side with room, and how far along it is, from 0 to 1. */
  const place = () => {
    const [wide, high] = crop.ratio.split(":").map(Number);
    const share = (wide / high) * (picture.naturalHeight / picture.naturalWidth);
    const across = share < 1;
    const size = across ? share : 1 / share;
    const room = size > 0.995 ? 0 : 1 - size;
    const centre = across ? crop.x : crop.y;
    return { across, size, room, at: room ? Math.min(1, Math.max(0, (centre - size / 2) / room)) : 0 };
  };
  const drawCrop = () => {
    ratios.press(crop ? crop.ratio : "");
    shapeRow.hidden = whole.hidden;
    part.hidden = !crop || !picture.naturalWidth;
    if (part.hidden) return;
    const { across, size, room, at } = place();
    part.hidden = !room;
    const from = `${at * room * 100}%`;
    part.style.inset = across ? `0 auto 0 ${from}` : `${from} 0 auto 0`;
    part.style.width = across ? `${size * 100}%` : "100%";
    part.style.height = across ? "100%" : `${size * 100}%`;
    part.setAttribute("aria-orientation", across ? "horizontal" : "vertical");
    part.setAttribute("aria-valuenow", Math.round(at * 100));
    const placeText = `${Math.round(at * 100)} % from the ${across ? "left" : "top"}`;
    part.setAttribute("aria-valuetext", at === 0.5 ? "the middle" : placeText);
  };
  const move = (at, wait) => {
    const { across, size, room } = place();
    const centre = Math.min(1, Math.max(0, at)) * room + size / 2;
    setCrop({ ...crop, [across ? "x" : "y"]: Math.round(centre * 10000) / 10000 }, wait);
  };
  part.addEventListener("keydown", (event) => {
    const step = event.shiftKey ? 0.2 : 0.04;
    const { at } = place();
    const [back, on] = [at - step, at + step];
    const arrows = { ArrowLeft: back, ArrowUp: back, ArrowRight: on, ArrowDown: on };
    const to = { ...arrows, PageUp: at - 0.2, PageDown: at + 0.2, Home: 0, End: 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    move(to, 400);
  });
  part.addEventListener("pointerdown", (event) => {
    part.setPointerCapture(event.pointerId);
    dragged = { ...place(), x: event.clientX, y: event.clientY };
  });
  part.addEventListener("pointermove", (event) => {
    if (!dragged) return;
    const box = whole.getBoundingClientRect();
    const [right, down] = [(event.clientX - dragged.x) / box.width, (event.clientY - dragged.y) / box.height];
    const by = dragged.across ? right : down;
    move(dragged.at + by / dragged.room, 400);
  });
  const drop = () => {
    if (!dragged) return;
    dragged = null;
    setCrop(crop);
  };
  for (const kind of ["pointerup", "pointercancel"]) part.addEventListener(kind, drop);
  picture.addEventListener("load", drawCrop);
  frame.draw(["crop"], () => {
    if (later || dragged) return; // the answer to an earlier position
    crop = model.get("crop");
    drawCrop();
  });
  frame.draw(["preview"], () => { shapeRow.hidden = whole.hidden; });

  const close = () => {
    stop();
    closePanes();
  };
  frame.onClose(() => {
    close();
    clearTimeout(later);
  });
  const remove = () => {
    close();
    show("");
    tell(model, { name: "remove" });
    choose.focus();
  };
  return { take, camera: openCamera, recent: openRecent, remove };
}
