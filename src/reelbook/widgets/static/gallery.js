// The gallery: tiles that Python composed, loaded page by page as somebody scrolls; one clip opened beside them.
import {
  ask, filledButton, focusedNode, freshId, h, isNew, plainButton, refill, restButton, setText, showText, starButton,
  tell, tickButton,
} from "./_dom.js";
import { tellWhenLeft } from "./_left.js";
import { panel } from "./_live.js";
import { bringIntoView, clipCard } from "./_card.js";
import { offerDownload } from "./_download.js";
import { posters } from "./_posters.js";
import { savedField } from "./_typed.js";

/**
 * A tile of reelbook.text.gallery; empty values are left out.
 * @typedef {{key: string, id?: string, prompt: string, about: string, money: string, word?: string, tone?: string,
 *   picked?: boolean, remark?: string, here?: boolean, group?: number, runs?: Array<[string, boolean]>}} Tile
 *   `runs`: the prompt, with what differs in its group
 * @typedef {{compare: number, keys: string} & Record<string, Array<[string, string]>>} Choices
 *   values and words of each filter; `compare`: how many can be compared, 0 where nobody would
 * @typedef {{turn?: number, order?: string[], tiles?: Tile[], count?: string, nothing?: string, create?: string,
 *   filtered?: boolean, more?: boolean, groups?: Array<[string, string]>}} News what changed. `turn`: of the search;
 *   `order`: the keys of all tiles; `groups`: a value of the axis, and how many of its clips are picked
 */

export default panel("gallery", "Gallery", (frame, model) => {
  const pictures = posters(frame, model);
  // By message: a trait set here could be undone by the echo of an earlier value.
  const set = (name, value) => tell(model, { name: "filter", trait: name, value });
  /** @returns {Choices} */
  const choices = () => model.get("choices");
  const face = () => model.get("face");

  // The filters.
  const searches = { placeholder: "Search", "aria-label": "Search prompts and notes", autocomplete: "off" };
  const text = h("input", { type: "search", ...searches });
  let typing = 0;
  text.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => set("text", text.value), 250);
  });
  frame.onClose(() => clearTimeout(typing));
  const choose = (name, label, read = (value) => value) => {
    const node = h("select", { "aria-label": label, onchange: () => set(name, read(node.value)) });
    frame.draw(["choices", name], () => {
      const options = choices()[name] || [];
      const chosen = String(model.get(name));
      if (isNew(node, options)) node.replaceChildren(...options.map(([value, word]) => h("option", { value }, word)));
      node.value = chosen;
      // Python may have set a value that isn't among the usual ones.
      if (node.selectedIndex < 0) {
        node.append(h("option", { value: chosen }, chosen));
        node.value = chosen;
      }
      node.hidden = options.length < 2;
    });
    return node;
  };
  const onlyPicked = plainButton("★ Picked", () => set("picked", !model.get("picked")));
  // A choice for each axis of the chosen sweep.
  const axes = h("span", { class: "rb-axes" });
  frame.draw(["choices", "where"], () => {
    const where = model.get("where");
    if (!isNew(axes, [choices().where, where])) return;
    refill(axes, (choices().where || []).map(([axis, options]) => {
      const node = h("select", { "aria-label": axis, "data-axis": axis },
        ...options.map(([value, word]) => h("option", { value }, word)));
      node.value = where[axis] || "";
      // As all of them stand: the kernel may not have answered to another one yet.
      node.addEventListener("change", () => set("where",
        Object.fromEntries([...axes.children].map(({ dataset, value }) => [dataset.axis, value]))));
      return node;
    }));
  });
  const count = h("span", { class: "rb-quiet" });
  const chosen = h("span");
  const why = h("span", { class: "rb-quiet" });
  const compare = plainButton("Compare", () => tell(model, { name: "compare" }));
  const save = plainButton("Export", () => {
    restButton(save);
    tell(model, { name: "export" });
  });
  const none = plainButton("Deselect", () => {
    select([]);
    focusTile();
  });
  const keys = h("span", { class: "rb-quiet rb-keys" });
  const grid = h("ul", { class: "rb-grid", "aria-label": "Clips" });
  const end = h("div", { class: "rb-end rb-quiet" });
  const scroller = h("div", { class: "rb-scroll" }, grid, end);
  const empty = h("p", { class: "rb-quiet" });
  const create = filledButton("", () => tell(model, { name: "create" }));
  const clear = plainButton("Clear filters", () => {
    clearTimeout(typing);
    text.value = "";
    text.focus();
    tell(model, { name: "clear" });
  });
  const nothing = h("div", { class: "rb-nothing", hidden: true }, empty, create);
  const box = h("div", { class: "rb-opened", hidden: true });
  frame.body.append(h("div", { class: "rb-gallery" },
    h("div", { class: "rb-filters", role: "search", "aria-label": "Filters" },
      text, choose("state", "State"), onlyPicked, choose("sweep", "Sweep"), axes,
      choose("group_by", "Group by"), choose("tag", "Tag"), choose("experiment", "Experiment"),
      choose("mode", "Made from"), choose("days", "Time", Number), choose("sort", "Order")),
    h("div", { class: "rb-tally" }, count, clear, chosen, compare, save, none, why, keys, frame.badge), frame.message,
    h("div", { class: "rb-panes" }, box, h("div", { class: "rb-list" }, scroller, nothing))));

  // The tiles.
  /** @type {News} what the kernel said last */
  let now = {};
  let asked = -1;
  let current = "";
  let anchor = "";
  const tiles = new Map(); // key: {tile, item, open, …}
  let order = []; // the same as in `now`
  const place = (key) => order.indexOf(key);
  const build = (key) => {
    const parts = {
      img: h("img", { alt: "", hidden: true }),
      words: h("span", { class: "rb-quiet" }),
      prompt: h("span", { class: "rb-prompt" }),
      about: h("span"),
      money: h("span", { class: "rb-money" }),
      state: h("span", { class: "rb-chip" }),
      remark: h("span", { class: "rb-remark" }),
      tick: tickButton((event) => mark(key, event.shiftKey)),
      star: starButton(() => pick(key)),
    };
    const press = (event) => {
      focusOn(key);
      if (event.shiftKey) mark(key, true);
      else if (event.ctrlKey || event.metaKey) mark(key, false);
      else openTile(key);
    };
    parts.open = h("button", { type: "button", class: "rb-tile", tabindex: -1, "data-key": key, onclick: press },
      h("span", { class: "rb-pic" }, parts.img, parts.words), parts.prompt,
      h("span", { class: "rb-meta" }, parts.about, parts.money), parts.state, parts.remark);
    parts.item = h("li", {}, parts.open, parts.tick, parts.star);
    return parts;
  };
  /** @param {Tile} tile */
  const draw = (tile) => {
    const parts = tiles.get(tile.key) || build(tile.key);
    parts.tile = tile;
    tiles.set(tile.key, parts);
    const runs = tile.runs || [[tile.prompt, false]];
    parts.prompt.replaceChildren(...runs.map(([words, differs]) => differs ? h("mark", {}, words) : words));
    setText(parts.about, tile.about);
    setText(parts.money, tile.money);
    showText(parts.state, tile.word);
    parts.state.className = `rb-chip rb-${tile.tone}`;
    setText(parts.words, tile.here || tile.word ? "" : "No file here");
    showText(parts.remark, tile.remark);
    parts.star.setAttribute("aria-pressed", String(Boolean(tile.picked)));
    parts.item.classList.toggle("rb-picked", Boolean(tile.picked));
    parts.tick.hidden = !tile.id;
    if (tile.here) pictures.show(parts.img, tile.key);
    else {
      pictures.forget(parts.img);
      parts.img.hidden = true;
    }
    drawChosen(parts);
    return parts;
  };
  const drawChosen = (parts) => {
    const is = selected().includes(parts.tile.id);
    parts.item.classList.toggle("rb-chosen", is);
    parts.tick.setAttribute("aria-checked", String(is));
    const { tile } = parts;
    const said = [tile.prompt, tile.word, tile.about, tile.money, tile.picked && "picked", is && "selected"];
    parts.open.setAttribute("aria-label", said.filter(Boolean).join(", "));
    parts.open.setAttribute("aria-current", String(tile.key === face().key));
  };
  // The heads of the groups: each before its first tile, and one without tiles before the next.
  let heads = [];
  const keysOf = (group) => order.filter((key) => tiles.get(key).tile.group === group);
  const makeHead = (group) => {
    const [value, said] = [h("b"), h("span", { class: "rb-quiet" })];
    const compares = plainButton("Compare", async () => {
      await select(keysOf(group).map(idOf).filter(Boolean));
      tell(model, { name: "compare" });
    });
    return { node: h("li", { class: "rb-group" }, value, said, compares), value, said, compares };
  };
  const drawHead = ({ node, value, said, compares }, [name, words], keys) => {
    setText(value, name);
    setText(said, words);
    compares.hidden = keys.length < 2 || keys.length > choices().compare;
    return node;
  };
  /** Puts heads and tiles in their order. What stands in its place isn't moved: it may have the focus. */
  const arrange = () => {
    const items = (keys) => keys.map((key) => tiles.get(key).item);
    if (heads.length !== now.groups.length) heads = now.groups.map((_, group) => makeHead(group));
    const nodes = heads.length ? heads.flatMap((head, group) => {
      const keys = keysOf(group);
      return [drawHead(head, now.groups[group], keys), ...items(keys)];
    }) : items(order);
    nodes.forEach((node, at) => grid.children[at] === node || grid.insertBefore(node, grid.children[at] ?? null));
    while (grid.children.length > nodes.length) grid.lastElementChild.remove();
    const kept = new Set(order);
    for (const [key, { img }] of tiles) {
      if (kept.has(key)) continue;
      pictures.forget(img);
      tiles.delete(key);
    }
  };
  /** @param {News} news */
  const take = (news) => {
    const searched = "turn" in news && news.turn !== now.turn;
    const focused = grid.contains(focusedNode());
    now = { ...now, ...news };
    for (const tile of news.tiles || []) draw(tile);
    order = now.order;
    arrange();
    showText(count, now.count);
    setText(end, now.more ? "Looking for more clips." : "");
    setText(empty, now.nothing);
    nothing.hidden = !now.nothing;
    showText(create, now.create);
    clear.hidden = !now.filtered;
    scroller.hidden = Boolean(now.nothing);
    drawTally();
    if (!tiles.has(current)) focusOn(order[0], false);
    if (searched) {
      asked = -1;
      scroller.scrollTop = 0;
      if (focused) requestAnimationFrame(focusTile);
      frame.say(now.count || now.nothing);
    }
    // A tall window may show the end already.
    requestAnimationFrame(() => near && askMore());
  };
  frame.listen("msg:custom", (content) => content.name === "tiles" && take(content));
  let near = false;
  const askMore = () => {
    if (!now.more || asked === order.length) return;
    asked = order.length;
    tell(model, { name: "page", first: asked });
  };
  const bottom = new IntersectionObserver((entries) => {
    near = entries[entries.length - 1].isIntersecting;
    if (near) askMore();
  }, { root: scroller, rootMargin: "600px" });
  bottom.observe(end);
  frame.onClose(() => bottom.disconnect());

  // Focus, selection, picks.
  const focusOn = (key, move = true) => {
    tiles.get(current)?.open.setAttribute("tabindex", "-1");
    current = key;
    const parts = tiles.get(key);
    if (!parts) return;
    parts.open.setAttribute("tabindex", "0");
    if (move) parts.open.focus();
  };
  const focusTile = () => focusOn(tiles.has(current) ? current : order[0]);
  // What was selected here counts until the kernel has it, so that the next press builds on it.
  let mine = null;
  let sends = 0;
  const selected = () => mine ?? model.get("selected");
  const drawSelected = () => {
    for (const parts of tiles.values()) drawChosen(parts);
    drawTally();
  };
  const select = async (ids) => {
    mine = [...new Set(ids)];
    sends += 1;
    const number = sends;
    drawSelected();
    const answer = await ask(frame, model, { name: "select", ids: mine });
    if (!answer || number !== sends) return;
    mine = null;
    drawSelected();
  };
  const idOf = (key) => tiles.get(key).tile.id;
  const mark = (key, range) => {
    const id = idOf(key);
    const had = selected();
    if (range && tiles.has(anchor)) {
      const [from, to] = [place(anchor), place(key)].sort((a, b) => a - b);
      select([...had, ...order.slice(from, to + 1).map(idOf).filter(Boolean)]);
      return;
    }
    anchor = key;
    if (id) select(had.includes(id) ? had.filter((each) => each !== id) : [...had, id]);
  };
  const pick = (key) => tell(model, { name: "pick", key, picked: !tiles.get(key).tile.picked });
  const columns = () => {
    const items = order.map((key) => tiles.get(key).item);
    return Math.max(1, items.filter((item) => item.offsetTop === items[0].offsetTop).length);
  };
  let opening = 0;
  grid.addEventListener("keydown", (event) => {
    const open = event.target.closest(".rb-tile");
    if (!open || event.altKey) return;
    const { key } = open.dataset;
    const at = place(key);
    const ctrl = event.ctrlKey || event.metaKey;
    const last = order.length - 1;
    const across = columns();
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -across, ArrowDown: across, Home: -at, End: last - at };
    if (Object.hasOwn(steps, event.key) && !ctrl) {
      const to = at + steps[event.key];
      event.preventDefault();
      if (to < 0 || to > last) return;
      if (event.shiftKey) {
        if (!selected().includes(idOf(key)) || !tiles.has(anchor)) anchor = key;
        mark(order[to], true);
      }
      focusOn(order[to]);
      // Once a clip is open, an arrow key alone opens the next one.
      clearTimeout(opening);
      if (face().key && !event.shiftKey) opening = setTimeout(() => openTile(order[to]), 200);
    } else if (event.key === " ") {
      event.preventDefault();
      mark(key, event.shiftKey);
    } else if (event.key === "a" && ctrl) {
      event.preventDefault();
      select(order.map(idOf).filter(Boolean));
    } else if (event.key === "p" && !ctrl) pick(key);
  });
  // Browsers press a button when the space bar comes up again.
  grid.addEventListener("keyup", (event) => {
    if (event.key === " " && event.target.closest(".rb-tile")) event.preventDefault();
  });
  frame.onClose(() => clearTimeout(opening));
  frame.root.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || document.fullscreenElement) return;
    if (!sure.hidden) leaveFile();
    else if (face().key && event.target !== text) close();
  });
  const drawTally = () => {
    const number = selected().length;
    const most = choices().compare;
    setText(chosen, number ? `${number} selected` : "");
    for (const node of [save, none]) node.hidden = !number;
    compare.hidden = !number || !most;
    compare.disabled = number < 2 || number > most;
    const reason = number < 2 ? "Select at least two to compare." : `At most ${most} can be compared.`;
    setText(why, compare.hidden || !compare.disabled ? "" : reason);
    setText(keys, choices().keys);
    keys.hidden = Boolean(number) || !order.length;
  };

  // The opened clip.
  const shut = plainButton("Close", () => close());
  box.append(h("div", { class: "rb-acts rb-close" }, shut));
  clipCard({ ...frame, body: box }, model, face, (name, button) => {
    if (name === "delete") {
      sure.hidden = false;
      keep.focus();
      return;
    }
    restButton(button);
    tell(model, { name, key: face().key, picked: !face().picked });
  });
  const leaveFile = () => {
    sure.hidden = true;
    box.querySelector('[data-act="delete"]')?.focus();
  };
  const keep = plainButton("Keep it", leaveFile);
  const remove = plainButton("Delete the file", () => {
    sure.hidden = true;
    tell(model, { name: "delete", key: face().key });
    shut.focus();
  });
  const sureWords = h("p");
  const asks = { role: "group", "aria-label": "Delete the file", hidden: true };
  const sure = h("div", { class: "rb-note rb-odd rb-sure", ...asks },
    sureWords, h("div", { class: "rb-acts" }, keep, remove));
  const field = (label, node, hint) => h("div", { class: "rb-mark" },
    h("label", { for: node.id }, label, h("small", { class: "rb-hint" }, hint)), node);
  const known = h("datalist", { id: freshId("tags") });
  const tags = h("input", { type: "text", id: freshId("tag"), autocomplete: "off", list: known.id });
  box.append(sure, h("div", { class: "rb-marks" }, field("Tags", tags, "with commas between them"), known));
  const showTags = savedField(frame, tags, () => face().key, (key, value) => {
    tell(model, { name: "mark", key, tags: value });
  });
  // The tile that the person opened in this view: nothing else may move the page.
  let pressed = "";
  const openTile = (key) => {
    pressed = key;
    tell(model, { name: "open", key });
  };
  const close = () => {
    clearTimeout(opening);
    openTile("");
    focusTile();
  };
  let shown;
  frame.draw(["face"], () => {
    const { key, word, prompt, tags: kept, delete: question } = face();
    const changed = key !== shown;
    shown = key;
    box.hidden = !key;
    showTags(kept || "", changed);
    setText(sureWords, question || "");
    if (changed || !question) sure.hidden = true;
    if (!changed) return;
    for (const { open, tile } of tiles.values()) open.setAttribute("aria-current", String(tile.key === key));
    if (!key) return;
    if (key === pressed) bringIntoView(box);
    pressed = "";
    frame.say(`${word}. ${prompt}`);
  });
  frame.draw(["choices"], () => {
    const offered = (choices().tag || []).filter(([value]) => value);
    known.replaceChildren(...offered.map(([value]) => h("option", { value })));
    drawTally();
  });
  frame.draw(["text"], () => {
    if (focusedNode() !== text) text.value = model.get("text");
  });
  frame.draw(["picked"], () => onlyPicked.setAttribute("aria-pressed", String(model.get("picked"))));
  frame.draw(["selected"], drawSelected);
  offerDownload(frame, model);
  tellWhenLeft(frame, model);
});
