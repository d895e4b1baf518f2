// What all panels of a page have in common: whether their kernel is still there, as the front end tells, what becomes
// of views that are drawn anew, and that panels are saved as still forms. A notebook saves a panel's code with every
// panel, so this is in a model without a view.
import { focusedNode, h, restButton } from "./_dom.js";

const ENDS = ["restarting", "autorestarting", "terminating", "dead"];
const ACTS = ["click", "dblclick", "keydown", "input", "change", "paste", "dragover", "drop"];
const SAYS = "Clips under way are still made. Run the cell again: they appear, and nothing is bought twice.";
const notes = new WeakMap();

/**
 * What is known about kernels, by the names that their panels use.
 * @type {Map<string, {at: Date, ended: boolean}>} `ended`: it won't come back
 */
const lost = (globalThis.rbLost ??= new Map());

/** @param {{root: HTMLElement, body: HTMLFieldSetElement, model: any}} panel one that is on the page */
function drawLost({ root, body, model }) {
  const gone = lost.get(model.get("kernel"));
  if (!gone && !notes.has(root)) return;
  if (!notes.has(root)) {
    notes.set(root, h("div", { class: "rb-note rb-odd rb-ended", role: "status", tabindex: -1 }));
    root.prepend(notes.get(root));
    // What isn't a control, such as a tile, pretends nothing either; a dropped file doesn't replace the page.
    for (const kind of ACTS) {
      body.addEventListener(kind, (event) => {
        if (!body.disabled) return;
        event.stopPropagation();
        if (kind.startsWith("dr")) event.preventDefault();
      }, true);
    }
  }
  const note = notes.get(root);
  const typing = root.contains(focusedNode());
  body.disabled = Boolean(gone);
  root.classList.toggle("rb-gone", body.disabled);
  note.hidden = !gone;
  if (!gone) return;
  const at = gone.at.toTimeString().slice(0, 5);
  root.style.setProperty("--rb-at", `" at ${at}"`);
  note.replaceChildren(h("b", {}, "No kernel answers."),
    ` This is how things stood at ${at}. ${gone.ended ? SAYS : "It continues when the connection is back."}`);
  // The keyboard's focus stays in the panel: what is typed on would be the notebook's commands.
  if (typing) note.focus();
}

const known = new WeakSet();
let focusLost = {}; // the panel whose view went while it had the keyboard's focus, and when

/** @param {{root: HTMLElement, body: HTMLFieldSetElement, of: any, close: () => void}} panel a view that was opened */
function takeIn(panel) {
  drawLost(panel);
  if (known.has(panel)) return;
  known.add(panel);
  const { root, body, of, close } = panel;
  const host = root.parentNode;
  // JupyterLab closes no view in an output that it draws anew: it takes its element out.
  new ResizeObserver(() => host.parentNode || close()).observe(host);
  root.addEventListener("focusout", () => queueMicrotask(() => {
    if (!root.isConnected) focusLost = { of, at: performance.now() };
  }));
  // The focus goes on in the new view, unless something else took it. A busy machine takes seconds for it.
  if (focusLost.of !== of || performance.now() - focusLost.at > 5000) return;
  if (focusedNode() !== document.body) return;
  setTimeout(() => {
    const controls = [...body.querySelectorAll("button, video, input, textarea")];
    const first = controls.find((each) => each.checkVisibility() && !each.disabled);
    first?.focus();
    if (first?.type === "button") restButton(first); // a key that is held down doesn't press it
  });
}

const isPanel = ({ state }) => /^reelbook\./.test(state._anywidget_id)
  || (state._dom_classes || []).some((name) => name.startsWith("reelbook-"));

function withoutPanels(saved) {
  const panels = new Set(Object.keys(saved.state).filter((id) => isPanel(saved.state[id])));
  // A panel inside a person's own box stays: the box is drawn with it.
  for (let before = -1; before !== panels.size;) {
    before = panels.size;
    const others = JSON.stringify(Object.entries(saved.state).filter(([id]) => !panels.has(id)));
    for (const id of panels) if (others.includes(id)) panels.delete(id);
  }
  for (const id of panels) delete saved.state[id];
  return saved;
}

/**
 * Leaves panels out of the widget state that a notebook saves. A page made of the notebook would draw from that state,
 * with code from elsewhere and without a kernel, instead of showing the still form beside it.
 */
function leaveToStills(manager) {
  if (!manager || manager.leavesToStills) return;
  manager.leavesToStills = true;
  for (const name of ["get_state", "get_state_sync"]) {
    const whole = manager[name];
    if (!whole) continue;
    manager[name] = (...options) => {
      const saved = whole.apply(manager, options);
      return saved.then ? saved.then(withoutPanels) : withoutPanels(saved);
    };
  }
}

function initialize({ model }) {
  leaveToStills(model.widget_manager);
  globalThis.rbDraw = takeIn;
  for (const panel of globalThis.rbPanels || []) takeIn(panel);
  const name = model.get("kernel");
  const draw = () => {
    for (const panel of globalThis.rbPanels || []) if (panel.model.get("kernel") === name) drawLost(panel);
  };
  const notice = (ended) => {
    const before = lost.get(name);
    lost.set(name, { at: before?.at || new Date(), ended: ended || Boolean(before?.ended) });
    draw();
  };
  const back = () => {
    if (!lost.has(name) || lost.get(name).ended) return;
    lost.delete(name);
    draw();
  };
  const kernel = model.widget_manager?.kernel;
  const signals = [
    [kernel?.statusChanged, (_, status) => ENDS.includes(status) && notice(true)],
    [kernel?.connectionStatusChanged, (_, status) => (status === "connected" ? back() : notice(false))],
    [kernel?.disposed, () => notice(false)],
  ];
  for (const [signal, slot] of signals) signal?.connect(slot);
  // The classic Notebook tells it by events.
  const events = model.widget_manager?.comm_manager?.kernel?.events;
  const names = "kernel_restarting.Kernel kernel_autorestarting.Kernel kernel_killed.Kernel kernel_dead.Kernel";
  const onEvent = () => notice(true);
  events?.on(names, onEvent);
  back();
  draw();
  return () => {
    for (const [signal, slot] of signals) signal?.disconnect(slot);
    events?.off(names, onEvent);
  };
}

export default { initialize };
