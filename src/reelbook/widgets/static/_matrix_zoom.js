// Zoom and pan: all cells of a matrix alike.
import { plainButton } from "./_dom.js";

const ZOOMS = [1, 1.5, 2, 3, 4];

/** @returns `zoom(way)`: 1 in, -1 out, 0 back to all; `panned()`: whether the last press moved the picture */
export function zoomAndPan(table) {
  let moved = false;
  const eye = { zoom: 1, x: 0, y: 0 };
  const out = plainButton("−", () => zoom(-1), { "aria-label": "Zoom out", title: "Zoom out (-)" });
  const into = plainButton("+", () => zoom(1), { "aria-label": "Zoom in", title: "Zoom in (+)" });
  const look = () => {
    const most = (eye.zoom - 1) / 2 / eye.zoom;
    for (const side of ["x", "y"]) eye[side] = Math.max(-most, Math.min(most, eye[side]));
    table.style.setProperty("--rb-view", `scale(${eye.zoom}) translate(${eye.x * 100}%, ${eye.y * 100}%)`);
    table.classList.toggle("rb-zoomed", eye.zoom > 1);
    out.disabled = eye.zoom === 1;
    into.disabled = eye.zoom === ZOOMS.at(-1);
  };
  const zoom = (way) => {
    eye.zoom = way ? ZOOMS[Math.max(0, Math.min(ZOOMS.length - 1, ZOOMS.indexOf(eye.zoom) + way))] : 1;
    look();
  };
  table.addEventListener("pointerdown", (event) => {
    moved = false;
    const cell = event.target.closest(".rb-cell");
    if (!cell || eye.zoom === 1 || event.button || event.target.closest("button")) return;
    const { width, height } = cell.getBoundingClientRect();
    let last = event;
    const pan = (now) => {
      if (Math.hypot(now.clientX - event.clientX, now.clientY - event.clientY) > 4) moved = true;
      eye.x += (now.clientX - last.clientX) / width / eye.zoom;
      eye.y += (now.clientY - last.clientY) / height / eye.zoom;
      last = now;
      look();
    };
    const end = () => {
      for (const kind of ["pointerup", "pointercancel"]) window.removeEventListener(kind, end);
      window.removeEventListener("pointermove", pan);
    };
    window.addEventListener("pointermove", pan);
    for (const kind of ["pointerup", "pointercancel"]) window.addEventListener(kind, end);
  });
  look();
  return { zoom, panned: () => moved, buttons: [out, into] };
}
