// Where the cells of a matrix stand: rows, columns and pages, and the chips that move an axis from one to another.
import { focusedNode, h, plainButton, refill, setText } from "./_dom.js";

const ZONES = { rows: "Rows", columns: "Columns", pages: "Pages" };

/**
 * The table, built anew whenever an axis moves, and the bars above it. Axes with one value stand nowhere.
 * @param {Map<number, import("./_matrix_cell.js").Cell>} cells by number
 * @param {{get: (name: string) => any, set: (values: object) => void,
 *   onBuilt: (here: any[], hadFocus: boolean) => void}} about
 */
export function matrixTable(frame, cells, { get, set, onBuilt }) {
  const table = h("table", { role: "grid", "aria-label": "Clips", "aria-multiselectable": "true" });
  const bars = h("span", { class: "rb-axes", role: "group", "aria-label": "Axes" });
  /** @type {Map<string, string[]>} their labels */
  let axes = new Map();
  let byPlace = new Map();
  let heads = []; // of rows and columns, with the cells of each
  let laid = "";
  let dragged = "";

  const many = () => [...axes.keys()].filter((name) => axes.get(name).length > 1);
  const zones = () => {
    const known = many();
    const rows = get("rows").filter((name) => known.includes(name));
    const columns = get("columns").filter((name) => known.includes(name) && !rows.includes(name));
    const pages = known.filter((name) => !rows.includes(name) && !columns.includes(name));
    return { rows, columns, pages };
  };
  const pageOf = (name) => Math.max(0, axes.get(name).indexOf(get("page")[name]));
  const laidOut = () => JSON.stringify([get("rows"), get("columns"), get("page")]);
  /** Every choice of an index for each of these axes, the last one changing first. */
  const ways = (names) => names.reduce(
    (made, name) => made.flatMap((way) => axes.get(name).map((_, index) => ({ ...way, [name]: index }))), [{}],
  );

  const build = () => {
    const zone = zones();
    const [rows, columns] = [ways(zone.rows), ways(zone.columns)];
    const page = Object.fromEntries([...axes.keys()].map((name) => [name, pageOf(name)]));
    const find = (row, column) => {
      const way = { ...page, ...row, ...column };
      return byPlace.get([...axes.keys()].map((name) => way[name]).join());
    };
    const had = table.contains(focusedNode());
    heads = [];
    const heading = (scope, way, members) => {
      const tally = h("small", { class: "rb-quiet" });
      const words = Object.entries(way).map(([name, index]) => axes.get(name)[index]).join(" · ");
      const node = h("th", { scope, title: words, hidden: !words }, h("span", {}, words), tally);
      heads.push({ node, members });
      return node;
    };
    const grid = rows.map((row) => columns.map((column) => find(row, column)));
    const corner = h("td", { class: "rb-side", hidden: !zone.rows.length });
    const above = (column, place) => heading("col", column, grid.map((line) => line[place]));
    const top = h("tr", {}, corner, ...columns.map(above));
    const stand = (one) => one ? h("td", { tabindex: -1 }, one.node) : h("td", { "aria-label": "Not in this sweep" });
    const lines = rows.map((row, place) => h("tr", {}, heading("row", row, grid[place]), ...grid[place].map(stand)));
    for (const line of lines) line.firstElementChild.classList.add("rb-side");
    top.hidden = !zone.columns.length;
    table.replaceChildren(h("thead", {}, top), h("tbody", {}, ...lines));
    table.style.setProperty("--rb-columns", columns.length);
    laid = laidOut();
    onBuilt(grid.flat().filter(Boolean), had);
    drawBars(zone);
    drawTallies();
  };
  const drawTallies = () => {
    const said = (members) => {
      const done = members.filter((one) => one?.now.clip);
      const picked = done.filter((one) => one.now.picked).length;
      return picked ? `${picked} picked of ${done.length}` : "";
    };
    for (const { node, members } of heads) setText(node.lastElementChild, said(members));
  };

  // The axes, to be dragged or chosen
  const arrange = ({ rows, columns }) => {
    set({ rows, columns });
    build();
    frame.say(`Rows: ${rows.join(", ") || "none"}. Columns: ${columns.join(", ") || "none"}.`);
  };
  const move = (name, to) => {
    const zone = zones();
    for (const where of Object.keys(zone)) zone[where] = zone[where].filter((each) => each !== name);
    zone[to].push(name);
    arrange(zone);
  };
  const swap = (name, other) => {
    const zone = zones();
    const swapped = (each) => each === name ? other : each === other ? name : each;
    for (const where of Object.keys(zone)) zone[where] = zone[where].map(swapped);
    arrange(zone);
  };
  const transpose = () => {
    const { rows, columns } = zones();
    arrange({ rows: columns, columns: rows });
  };
  const turn = (name, label) => {
    set({ page: { ...get("page"), [name]: label } });
    build();
  };
  const leaf = (way) => {
    const [name] = zones().pages;
    const to = name && axes.get(name)[pageOf(name) + way];
    if (to) turn(name, to);
  };
  const chip = (name, where) => {
    const option = (value, text) => h("option", { value }, text);
    const swaps = many().filter((each) => each !== name).map((each) => option(`swap:${each}`, each));
    const moves = Object.keys(ZONES).filter((each) => each !== where).map((each) => option(`to:${each}`, ZONES[each]));
    const choice = h("select", { "data-focus": name, "aria-label": `${ZONES[where]}: ${name}` },
      option("", name),
      h("optgroup", { label: "Swap with" }, ...swaps),
      h("optgroup", { label: `Move ${name} to` }, ...moves));
    choice.addEventListener("change", () => {
      const [what, value] = choice.value.split(":", 2);
      choice.dataset.focus = what === "swap" ? value : name;
      (what === "swap" ? swap : move)(name, value);
    });
    const grip = h("span", { class: "rb-grip", "aria-hidden": "true" }, "⠿");
    const hint = "Drag it to other rows, columns or pages";
    const node = h("span", { class: "rb-axis", draggable: "true", title: hint }, grip, choice);
    node.addEventListener("dragstart", (event) => {
      dragged = name;
      event.dataTransfer.setData("text/plain", name);
      event.stopPropagation();
    });
    node.addEventListener("dragend", () => { dragged = ""; });
    takeDrops(node, (moved) => swap(moved, name), name);
    return node;
  };
  /** Takes an axis that is dropped on `node`, unless it is `itself`. */
  const takeDrops = (node, drop, itself = "") => {
    const takes = () => dragged && dragged !== itself;
    node.addEventListener("dragover", (event) => takes() && event.preventDefault());
    node.addEventListener("drop", (event) => {
      if (!takes()) return;
      event.preventDefault();
      event.stopPropagation();
      drop(dragged);
    });
  };
  const drawBars = (zone) => {
    const values = (name) => {
      const pages = axes.get(name).map((text, place) => plainButton(text, () => turn(name, text), {
        "data-focus": `${name}:${place}`, "aria-pressed": String(place === pageOf(name)),
      }));
      return h("span", { class: "rb-group", role: "group", "aria-label": `Page: ${name}` }, ...pages);
    };
    const parts = Object.entries(ZONES).map(([where, word]) => {
      const hidden = where === "pages" && many().length < 3 && !zone.pages.length;
      const chips = zone[where].flatMap((name) => [chip(name, where), ...(where === "pages" ? [values(name)] : [])]);
      const node = h("span", { class: "rb-zone", hidden }, h("span", { class: "rb-quiet" }, word), ...chips);
      takeDrops(node, (moved) => move(moved, where));
      return node;
    });
    const swap = "Swap rows and columns";
    const looks = { "aria-label": swap, title: `${swap} (t)`, "data-focus": "swap" };
    parts.splice(1, 0, plainButton("⇄", transpose, looks));
    refill(bars, parts);
    bars.hidden = !many().length;
  };
  return {
    table, bars, build, drawTallies, transpose, leaf,
    /** Takes the axes of another sweep; its cells are made by now. */
    take(given) {
      axes = new Map(given);
      byPlace = new Map([...cells.values()].map((one) => [one.at.join(), one]));
      build();
    },
    /** Whether rows, columns or page were set since it was built. */
    isOld: () => laidOut() !== laid,
    /** Where a cell stands, in words. */
    placeOf: (one) => [...axes].map(([name, labels], at) => labels.length > 1 && `${name} ${labels[one.at[at]]}`)
      .filter(Boolean).join(", "),
  };
}
