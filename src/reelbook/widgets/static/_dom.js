// The frame of every panel: real elements, keys that stay inside, one polite live region, a message under the panel.

/**
 * Makes an element. `attributes`: on… are listeners, true sets an empty attribute, null or false leaves it out.
 * Children that are text become text nodes, so nothing from outside is ever read as markup.
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Node|string)} children
 * @returns {any}
 */
export function h(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children);
  return node;
}

/** Sets text only where it differs, so that a selection in it survives. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Sets text, and hides what has none. @param {HTMLElement} node @param {string} [text] */
export function showText(node, text) {
  setText(node, text || "");
  node.hidden = !text;
}

/**
 * An outlined button: everything but the next step.
 * @param {string | Node} label
 * @param {(event: any) => void} act
 * @param {Record<string, any>} [more] attributes
 * @returns {HTMLButtonElement}
 */
export function plainButton(label, act, more = {}) {
  return h("button", { type: "button", class: "rb-plain", onclick: act, ...more }, label);
}

/** The filled button: the next step. */
export function filledButton(label, act, more = {}) {
  return plainButton(label, act, { class: "rb-primary", ...more });
}

/** A button that shows a part of the page where it can be seen, and hides it again. @param {HTMLElement} part */
export function foldButton(label, part, more = {}) {
  const made = plainButton(label, () => {
    part.hidden = !part.hidden;
    made.setAttribute("aria-expanded", String(!part.hidden));
    part.scrollIntoView({ block: "nearest" });
  }, { "aria-expanded": "false", ...more });
  return made;
}

/** The corner of a clip among many: whether it is selected. It is no stop of the Tab key; the clip's own keys do it. */
export function tickButton(act) {
  return plainButton("", act, { class: "rb-tick", role: "checkbox", tabindex: -1, "aria-label": "Select" });
}

/** The other corner: whether it is picked. */
export function starButton(act) {
  return plainButton("", act, { class: "rb-star", tabindex: -1, "aria-label": "Pick" });
}

/**
 * Buttons of which one is pressed.
 * @param {Array<[string, ...(string | Node)[]]>} entries for each its value, and what is in it
 * @param {(value: string) => void} act
 * @returns {{node: HTMLElement, press: (value: string) => void}}
 */
export function segment(label, entries, act, more = {}) {
  const buttons = entries.map(([value, ...inside]) =>
    h("button", { type: "button", "data-value": value, onclick: () => act(value) }, ...inside));
  const node = h("div", { class: "rb-seg", role: "group", "aria-label": label, ...more }, ...buttons);
  const press = (value) => {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.value === value));
  };
  return { node, press };
}

/** Off for a moment: the second click of a double click must not pay, send or stop, nor answer a question. */
export function restButton(button, milliseconds = 1500) {
  button.disabled = true;
  button.rests = milliseconds;
  setTimeout(() => { button.disabled = false; }, milliseconds);
}

/** A bar for `drawProgress`. @param {string} [label] what goes on */
export function progressBar(label = "Progress") {
  const range = { "aria-valuemin": 0, "aria-valuemax": 100 };
  return h("div", { class: "rb-bar", role: "progressbar", "aria-label": label, ...range }, h("i"));
}

/** @param {number | null} share 0 to 1; less than 0: it runs, and nobody knows how far it is; null: nothing runs */
export function drawProgress(bar, share) {
  bar.hidden = share === null;
  const known = share >= 0 ? Math.min(1, share) : 0;
  bar.firstElementChild.style.width = `${known * 100}%`;
  if (share !== null && share >= 0) bar.setAttribute("aria-valuenow", Math.round(known * 100));
  else bar.removeAttribute("aria-valuenow");
}

/** Whether `value` is another than at the last question for `box`: buttons stay while they are the same. */
export function isNew(box, value) {
  const said = JSON.stringify(value);
  if (box.dataset.drawn === said) return false;
  box.dataset.drawn = said;
  return true;
}

/** Replaces what is in `box`. A focus in it goes to the control of the same data, else the first, else `instead`. */
export function refill(box, nodes, instead) {
  const data = (node) => JSON.stringify(node.dataset);
  const focused = focusedBefore || focusedNode();
  const had = box.contains(focused) && data(focused);
  box.replaceChildren(...nodes);
  if (!had) return;
  const controls = [...box.querySelectorAll("button, select")];
  (controls.find((one) => data(one) === had) || controls[0] || instead)?.focus();
}

/**
 * Sends a message to the kernel. False if there is no kernel any more: the widget library throws then.
 * @param {{name: string, [key: string]: any}} content
 * @param {ArrayBuffer[]} [buffers]
 */
export function tell(model, content, buffers) {
  if (globalThis.rbLost?.get(model.get("kernel"))?.ended) return false;
  try {
    model.send(content, undefined, buffers);
    return true;
  } catch { return false; }
}

/**
 * Asks the kernel and waits for its answer: the parts of it, and its `buffers`. Null without a kernel. Where the view
 * goes meanwhile, the answer never comes.
 * @param {{name: string, [key: string]: any}} content
 * @param {ArrayBuffer[]} [buffers]
 * @returns {Promise<any>}
 */
export function ask(frame, model, content, buffers) {
  const id = freshId("ask");
  return new Promise((resolve) => {
    const end = frame.listen("msg:custom", (answer, parts) => {
      if (answer.name !== "answer" || answer.ask !== id) return;
      end();
      resolve({ ...answer, buffers: parts });
    });
    if (!tell(model, { ...content, ask: id }, buffers)) resolve(null);
  });
}

export const GONE = "The kernel is gone. Run the cell again.";
export const BUSY = "The kernel is busy. This continues when it is free.";

let focusedBefore = null; // the control for which its panel holds the keyboard's focus
let lastId = 0;
/** An id that no other view has, so that two views of one panel don't share labels. */
export function freshId(word) {
  lastId += 1;
  return `rb-${word}-${lastId}-${Math.random().toString(36).slice(2, 7)}`;
}

/** What has the keyboard's focus, also in a shadow tree: marimo gives each panel one. @returns {any} */
export function focusedNode() {
  let node = document.activeElement;
  while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
  return node;
}

/**
 * Where a press in another panel opened this one, the keyboard goes on in it, at `node`: as soon as that can take the
 * focus and nothing else has it. What the person presses next ends the wait.
 */
export function takeFocus(frame, node) {
  node.dataset.begins = ""; // host.js, if it draws the panel before it shows it
  if (!navigator.userActivation?.hasBeenActive) return; // a reloaded page draws its panels
  const ended = new AbortController();
  const end = () => ended.abort();
  for (const press of ["keydown", "pointerdown"]) {
    document.addEventListener(press, end, { capture: true, signal: ended.signal });
  }
  const timer = setInterval(() => {
    if (focusedNode() === document.body) node.focus({ preventScroll: true });
    if (focusedNode() === node) end();
  }, 50);
  ended.signal.addEventListener("abort", () => clearInterval(timer));
  setTimeout(end, 10_000); // later than that it isn't what the press was for
  frame.onClose(end);
}

/** A control that is switched off or hidden would drop the keyboard's focus: the panel holds it until it is back. */
function keepFocus(root) {
  const focus = (node) => node.focus({ preventScroll: true });
  new MutationObserver((changes) => {
    const focused = focusedNode();
    for (const { target } of changes) {
      const off = target.disabled || target.hidden;
      if (!off && focused === root && target.contains(focusedBefore)) focus(focusedBefore);
      if (!off || !target.contains(focused)) continue;
      root.tabIndex = -1; // only meanwhile: a click beside the controls is for the notebook
      focus(root);
      focusedBefore = focused;
    }
  }).observe(root, { attributeFilter: ["disabled", "hidden"], subtree: true });
  root.addEventListener("blur", () => {
    root.removeAttribute("tabindex");
    focusedBefore = null;
  });
}

/**
 * The frame of a panel's view.
 * @param {any} model
 * @param {HTMLElement} host
 * @param {string} stem the panel's name, which its style is kept to
 * @param {string} label what a screen reader calls the panel
 */
export function openPanel(model, host, stem, label) {
  const cleanups = new Set();
  // As a fieldset it disables every control in it at once, whatever a panel sets them to.
  const body = h("fieldset", { class: "rb-body", role: "none" });
  const region = h("div", { class: "rb-hidden", "aria-live": "polite" });
  const messageText = h("span");
  const dismiss = plainButton("Dismiss", () => {
    message.hidden = true;
    tell(model, { name: "dismiss" });
  });
  const message = h("div", { class: "rb-note rb-message", hidden: true }, messageText, dismiss);
  const badge = h("span", { class: "rb-badge" });
  const root = h("section", { class: "rb", "aria-label": label }, body, message, region);
  // The notebook acts on keys that reach it: Ctrl+Enter would run the cell again, "a" would insert one.
  for (const kind of ["keydown", "keyup", "keypress"]) {
    root.addEventListener(kind, (event) => event.stopPropagation());
  }
  host.classList.add("rb-host", `rb-of-${stem}`);
  host.append(root);
  keepFocus(root);

  const frame = {
    root,
    body,
    model,
    /** The same for all views of a panel, as each panel has a module of its own. */
    of: openPanel,
    /** Stands under the panel, unless a panel puts it where it is seen better. */
    message,
    /** Says "sandbox", where a panel has it. */
    badge,
    /** Runs when the view goes. */
    onClose: (cleanup) => cleanups.add(cleanup),
    /** Calls it again and again until the view goes; not while the kernel is gone. */
    every(milliseconds, callback) {
      const timer = setInterval(() => body.disabled || callback(), milliseconds);
      cleanups.add(() => clearInterval(timer));
    },
    /** Listens to the model until the view goes, or what it returns is called. */
    listen(event, callback) {
      const end = () => {
        model.off(event, callback);
        cleanups.delete(end);
      };
      model.on(event, callback);
      cleanups.add(end);
      return end;
    },
    /** Draws now and on every change of the named traits. */
    draw(names, callback) {
      for (const name of names) frame.listen(`change:${name}`, callback);
      callback();
    },
    /** Tells a screen reader, once it has finished speaking. */
    say: (text) => setText(region, text),
    /**
     * Shows what a press came to. A problem interrupts a screen reader, anything else waits for it to finish.
     * @param {{text: string, tone: "info" | "problem"}} message
     */
    showMessage({ text, tone }) {
      message.setAttribute("role", tone === "problem" ? "alert" : "note");
      setText(messageText, text);
      message.hidden = !text;
      if (tone !== "problem") frame.say(text);
    },
    close() {
      for (const cleanup of cleanups) cleanup();
      cleanups.clear();
      root.remove();
    },
  };
  frame.draw(["mark"], () => showText(badge, model.get("mark")));
  frame.draw(["message"], () => frame.showMessage(model.get("message")));
  // The page's own model (_page.js) tells it when its kernel is gone, and closes it where the notebook doesn't.
  (globalThis.rbPanels ??= new Set()).add(frame);
  globalThis.rbDraw?.(frame);
  frame.onClose(() => rbPanels.delete(frame));
  return frame;
}

/** A trait's bytes as a URL for an <img> or a poster; made anew on each change, revoked at the end. */
export function pictureUrl(frame, model, name, show) {
  let url = "";
  const drop = () => url && URL.revokeObjectURL(url);
  frame.draw([name], () => {
    drop();
    const bytes = model.get(name);
    url = bytes && bytes.byteLength ? URL.createObjectURL(new Blob([bytes], { type: "image/jpeg" })) : "";
    show(url);
  });
  frame.onClose(drop);
}
