// A panel made of panels. A front end with ipywidgets' manager draws any widget; marimo draws anywidgets.
import { h, pictureUrl, tell } from "./_dom.js";
import { tellWhenLeft } from "./_left.js";

function render({ model, el, host }) {
  const manager = model.widget_manager;
  const cleanups = [];
  const onClose = (cleanup) => cleanups.push(cleanup);
  const listen = (event, callback) => {
    model.on(event, callback);
    onClose(() => model.off(event, callback));
  };
  el.classList.add("rb-host", model.get("kind"));
  tellWhenLeft({ root: el, onClose }, model);

  const drawChild = (reference) => {
    const slot = h("div", { class: "rb-slot" });
    const closed = new AbortController();
    let view = null;
    const open = async () => {
      if (!manager?.create_view) {
        const child = await host.getWidget(reference);
        if (!closed.signal.aborted) await child.render({ el: slot.appendChild(h("div")), signal: closed.signal });
        return;
      }
      view = await manager.create_view(await manager.get_model(reference.split(":")[1]));
      if (closed.signal.aborted) return view.remove();
      slot.append(view.el);
      // What is drawn by size, as bqplot's figure is, waits for this; a panel's element may not be on the page yet.
      const seen = new ResizeObserver(() => {
        if (!view.el.clientWidth) return;
        seen.disconnect();
        view.trigger("displayed");
      });
      seen.observe(view.el);
      closed.signal.addEventListener("abort", () => seen.disconnect());
    };
    open().catch((error) => {
      if (closed.signal.aborted) return;
      console.debug("[reelbook] a still picture stands for what can't be drawn here:", error);
      const picture = slot.appendChild(h("img", { class: "rb-undrawn", alt: "", hidden: true }));
      pictureUrl({ draw, onClose }, model, "picture", (url) => {
        picture.hidden = !url;
        if (url) picture.src = url;
      });
      tell(model, { name: "undrawn" });
    });
    const end = () => {
      closed.abort();
      view?.remove();
      slot.remove();
    };
    return { slot, end };
  };

  const draw = (names, callback) => {
    for (const name of names) listen(`change:${name}`, callback);
    callback();
  };
  const drawn = new Map();
  const isFoot = (name) => name === "foot";
  const panes = new Map([["", el]]);
  // What stands where it belongs isn't moved: a film would begin anew.
  const arrange = (parent, nodes) => nodes.forEach((node, place) => {
    if (parent.children[place] !== node) parent.insertBefore(node, parent.children[place] || null);
  });
  const slots = (references) => references.map((reference) => {
    if (!drawn.has(reference)) drawn.set(reference, drawChild(reference));
    return drawn.get(reference).slot;
  });
  draw(["panes"], () => {
    const wanted = model.get("panes");
    const references = new Set(Object.values(wanted).flat());
    for (const [reference, child] of drawn) {
      if (references.has(reference)) continue;
      child.end();
      drawn.delete(reference);
    }
    for (const [name, node] of panes) {
      if (!name || name in wanted) continue;
      node.remove();
      panes.delete(name);
    }
    for (const name of Object.keys(wanted)) {
      const looks = { class: isFoot(name) ? "reelbook-foot" : "reelbook-pane", "data-pane": name };
      if (!panes.has(name)) panes.set(name, h("div", looks));
    }
    const named = Object.keys(wanted).filter(Boolean).sort((a, b) => isFoot(a) - isFoot(b));
    for (const name of named) arrange(panes.get(name), slots(wanted[name]));
    arrange(el, [...slots(wanted[""] || []), ...named.map((name) => panes.get(name))]);
  });
  draw(["pane", "panes"], () => {
    const shown = panes.get(model.get("pane"));
    const focused = el.getRootNode().activeElement; // in marimo each child has a tree of its own
    for (const [name, node] of panes) if (name && !isFoot(name)) node.hidden = node !== shown;
    // The pressed control is out of sight: the keyboard goes on in what it opened.
    const hidden = focused?.closest(".reelbook-pane[hidden]") && el.contains(focused);
    if (hidden) (shown?.querySelector("[data-begins]") || shown?.querySelector("textarea, button"))?.focus();
  });
  const close = () => {
    for (const cleanup of cleanups) cleanup();
    for (const child of drawn.values()) child.end();
    drawn.clear();
  };
  new ResizeObserver(() => el.parentNode || close()).observe(el); // as in _page.js
  return close;
}

export default { render };
