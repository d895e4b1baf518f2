// Where the cells of a matrix stand: rows, columns and pages, and the chips that move an axis from one to another.
import { h, plainButton, refill, setText } from "./_dom.js";

const ZONES = { rows: "Rows", columns: "Columns", pages: "Pages" };

/** Every choice of one index each, the last axis changing first. @param {number[]} lengths */
const indexes = (lengths) => lengths.reduce(
  (made, length) => made.flatMap((one) => Array.from({ length }, (_, place) => [...one, place])), [[]],
);

/**
 * The table, built anew whenever an axis moves, and the bars above it. Axes with one value stand nowhere.
 * @param {Map<number, import("./_matrix_cell.js").Cell>} cells by number
 * @param {{get: (name: string) => any, set: (values: object) => void,
 *   onBuilt: (here: any[], hadFocus: boolean) => void}} about
 */
export function matrixTable(frame, cells, { get, set, onBuilt }) {
  const table = h("table", { role: "grid", "aria-label": "Clips", "aria-multiselectable": "true" });
  const bars = h("span", { class: "rb-axes", role: "group", "aria-label": "Axes" });
  /** @type {Array<[string, string[]]>} */
  let axes = [];
  let byPlace = new Map();
  let heads = []; // of rows and columns, with the cells of each
  let laid = "";
  let dragged = "";

  const axis = (name) => axes.findIndex(([one]) => one === name);
  const many = () => axes.filter(([, labels]) => labels.length > 1).map(([name]) => name);
  const zones = () => {
    const known = many();
    const rows = get("rows").filter((name) => known.includes(name));
    const columns = get("columns").filter((name) => known.includes(name) && !rows.includes(name));
    const pages = known.filter((name) => !rows.includes(name) && !columns.includes(name));
    return { rows, columns, pages };
  };
  const label = (name, index) => axes[axis(name)][1][index];
  const pageOf = (name) => Math.max(0, axes[axis(name)][1].indexOf(get("page")[name]));
  const laidOut = () => JSON.stringify([get("rows"), get("columns"), get("page")]);

  const build = () => {
    const zone = zones();
    const waysOf = (names) => indexes(names.map((each) => axes[axis(each)][1].length));
    const ways = { rows: waysOf(zone.rows), columns: waysOf(zone.columns) };
    const words = (names, way) => names.map((name, place) => label(name, way[place])).join(" · ");
    const find = (row, column) => byPlace.get(axes.map(([name, labels]) => {
      if (labels.length < 2) return 0;
      const [a, b] = [zone.rows.indexOf(name), zone.columns.indexOf(name)];
      return a >= 0 ? row[a] : b >= 0 ? column[b] : pageOf(name);
    }).join());
    const had = table.contains(document.activeElement);
    heads = [];
    const heading = (scope, names, way, members) => {
      const tally = h("small", { class: "rb-quiet" });
      const node = h("th", { scope, hidden: !names.length }, h("span", {}, words(names, way)), tally);
      heads.push({ node, members });
      return node;
    };
    const grid = ways.rows.map((row) => ways.columns.map((column) => find(row, column)));
    const corner = h("td", { class: "rb-side", hidden: !zone.rows.length });
    const above = (column, place) => heading("col", zone.columns, column, grid.map((line) => line[place]));
    const top = h("tr", {}, corner, ...ways.columns.map(above));
    const stand = (one) => one ? h("td", { tabindex: -1 }, one.node) : h("td", { "aria-label": "Not in this sweep" });
    const lines = ways.rows.map((row, place) => {
      return h("tr", {}, heading("row", zone.rows, row, grid[place]), ...grid[place].map(stand));
    });
    for (const line of lines) line.firstElementChild.classList.add("rb-side");
    top.hidden = !zone.columns.length;
    table.replaceChildren(h("thead", {}, top), h("tbody", {}, ...lines));
    table.style.setProperty("--rb-columns", ways.columns.length);
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
  const put = (name, to, swap) => {
    const zone = zones();
    const from = Object.keys(zone).find((each) => zone[each].includes(name));
    const at = zone[from].indexOf(name);
    if (swap && swap !== name) {
      const other = Object.keys(zone).find((each) => zone[each].includes(swap));
      const [a, b] = [zone[from].indexOf(name), zone[other].indexOf(swap)];
      zone[from][a] = swap;
      zone[other][b] = name;
    } else if (!swap && to !== from) {
      zone[from].splice(at, 1);
      zone[to].push(name);
    }
    arrange(zone.rows, zone.columns);
  };
  const arrange = (rows, columns) => {
    set({ rows, columns });
    build();
    frame.say(`Rows: ${rows.join(", ") || "none"}. Columns: ${columns.join(", ") || "none"}.`);
  };
  const transpose = () => {
    const { rows, columns } = zones();
    arrange(columns, rows);
  };
  const turn = (name, place) => {
    set({ page: { ...get("page"), [name]: label(name, place) } });
    build();
  };
  const leaf = (way) => {
    const [name] = zones().pages;
    if (!name) return;
    const to = pageOf(name) + way;
    if (to >= 0 && to < axes[axis(name)][1].length) turn(name, to);
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
      put(name, what === "to" && value, what === "swap" && value);
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
    takeDrops(node, (moved) => put(moved, "", name), name);
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
      const pages = axes[axis(name)][1].map((text, place) => plainButton(text, () => turn(name, place), {
        "data-focus": `${name}:${place}`, "aria-pressed": String(place === pageOf(name)),
      }));
      return h("span", { class: "rb-group", role: "group", "aria-label": `Page: ${name}` }, ...pages);
    };
    const parts = Object.entries(ZONES).map(([where, word]) => {
      const hidden = where === "pages" && many().length < 3 && !zone.pages.length;
      const chips = zone[where].flatMap((name) => [chip(name, where), ...(where === "pages" ? [values(name)] : [])]);
      const node = h("span", { class: "rb-zone", hidden }, h("span", { class: "rb-quiet" }, word), ...chips);
      takeDrops(node, (moved) => put(moved, where));
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
      axes = given;
      const place = (one) => one.at.map((index, at) => axes[at][1].length > 1 ? index : 0).join();
      byPlace = new Map([...cells.values()].map((one) => [place(one), one]));
      build();
    },
    /** Whether rows, columns or page were set since it was built. */
    isOld: () => laidOut() !== laid,
    /** Where a cell stands, in words. */
    placeOf: (one) => many().map((name) => `${name} ${label(name, one.at[axis(name)])}`).join(", "),
  };
}
