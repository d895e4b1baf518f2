// Where the cells of a matrix stand: rows, columns and pages, and the chips that move an axis from one to another.
import { h, refill, setText } from "./_dom.js";
import { plainButton } from "./_matrix_cell.js";

const ZONES = { rows: "Rows", columns: "Columns", pages: "Pages" };

/** Every choice of one index each, the last axis changing first. @param {number[]} lengths */
const indexes = (lengths) => lengths.reduce((made, length) => made.flatMap((one) => Array.from({ length }, (_, place) => [...one, place])), [[]]);

/**
 * The table, built anew whenever an axis moves, and the bars above it. Axes with one value stand nowhere.
 * @param {Map<number, import("./_matrix_cell.js").Cell>} cells by number
 * @param {{get: (name: string) => any, set: (values: object) => void, onBuilt: (here: any[], hadFocus: boolean) => void}} about
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
    return { rows, columns, pages: known.filter((name) => !rows.includes(name) && !columns.includes(name)) };
  };
  const label = (name, index) => axes[axis(name)][1][index];
  const pageOf = (name) => Math.max(0, axes[axis(name)][1].indexOf(get("page")[name]));
  const laidOut = () => JSON.stringify([get("rows"), get("columns"), get("page")]);

  const build = () => {
    const zone = zones();
    const ways = Object.fromEntries(Object.entries(zone).map(([name, names]) => [name, indexes(names.map((each) => axes[axis(each)][1].length))]));
    const words = (names, way) => names.map((name, place) => label(name, way[place])).join(" · ");
    const find = (row, column) => byPlace.get(axes.map(([name, labels]) => {
      if (labels.length < 2) return 0;
      const [a, b] = [zone.rows.indexOf(name), zone.columns.indexOf(name)];
      return a >= 0 ? row[a] : b >= 0 ? column[b] : pageOf(name);
    }).join());
    const had = table.contains(document.activeElement);
    heads = [];
    const heading = (scope, names, way, members) => {
      const node = h("th", { scope, hidden: !names.length }, h("span", {}, words(names, way)), h("small", { class: "rb-quiet" }));
      heads.push({ node, members });
      return node;
    };
    const grid = ways.rows.map((row) => ways.columns.map((column) => find(row, column)));
    const top = h("tr", {}, h("td", { class: "rb-side", hidden: !zone.rows.length }), ...ways.columns.map((column, place) => heading("col", zone.columns, column, grid.map((line) => line[place]))));
    const lines = ways.rows.map((row, place) => h("tr", {}, heading("row", zone.rows, row, grid[place]), ...grid[place].map((one) =>
      one ? h("td", { tabindex: -1 }, one.node) : h("td", { class: "rb-hole", "aria-label": "Not in this sweep" }))));
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
    const any = (name) => [...cells.values()].some((one) => one.now[name]);
    const said = (members) => {
      const done = members.filter((one) => one?.now.clip);
      const share = (name) => done.filter((one) => one.now[name]).length;
      return [any("star") && `★ ${share("star")} of ${done.length} · ${done.length ? Math.round((share("star") / done.length) * 100) : 0} %`, any("pick") && `kept ${share("pick")}`].filter(Boolean).join(" · ");
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
  const transpose = () => { const { rows, columns } = zones(); arrange(columns, rows); };
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
    const others = many().filter((each) => each !== name);
    const choice = h("select", { "data-focus": name, "aria-label": `${ZONES[where]}: ${name}`, onchange: () => {
      const [what, value] = choice.value.split(":", 2);
      choice.dataset.focus = what === "swap" ? value : name;
      put(name, what === "to" && value, what === "swap" && value);
    } }, h("option", { value: "", selected: true }, name),
      h("optgroup", { label: "Swap with" }, ...others.map((each) => h("option", { value: `swap:${each}` }, each))),
      h("optgroup", { label: `Move ${name} to` }, ...Object.keys(ZONES).filter((each) => each !== where).map((each) => h("option", { value: `to:${each}` }, ZONES[each]))));
    const node = h("span", { class: "rb-axis", draggable: "true", title: "Drag it to other rows, columns or pages" }, h("span", { class: "rb-grip", "aria-hidden": "true" }, "⠿"), choice);
    node.addEventListener("dragstart", (event) => { dragged = name; event.dataTransfer.setData("text/plain", name); event.stopPropagation(); });
    node.addEventListener("dragend", () => { dragged = ""; });
    node.addEventListener("dragover", (event) => { if (dragged && dragged !== name) event.preventDefault(); });
    node.addEventListener("drop", (event) => { if (!dragged || dragged === name) return; event.preventDefault(); event.stopPropagation(); put(dragged, "", name); });
    return node;
  };
  const drawBars = (zone) => {
    const values = (name) => h("span", { class: "rb-group", role: "group", "aria-label": `Page: ${name}` }, ...axes[axis(name)][1].map((text, place) =>
      plainButton(text, () => turn(name, place), { "data-focus": `${name}:${place}`, "aria-pressed": String(place === pageOf(name)) })));
    const parts = Object.entries(ZONES).map(([where, word]) => {
      const node = h("span", { class: "rb-zone", hidden: where === "pages" && many().length < 3 && !zone.pages.length }, h("span", { class: "rb-quiet" }, word), ...zone[where].flatMap((name) => where === "pages" ? [chip(name, where), values(name)] : [chip(name, where)]));
      node.addEventListener("dragover", (event) => { if (dragged) event.preventDefault(); });
      node.addEventListener("drop", (event) => { if (!dragged) return; event.preventDefault(); put(dragged, where); });
      return node;
    });
    parts.splice(1, 0, plainButton("⇄", transpose, { "aria-label": "Swap rows and columns", title: "Swap rows and columns (t)", "data-focus": "swap" }));
    refill(bars, parts);
    bars.hidden = !many().length;
  };
  return {
    table, bars, build, drawTallies, transpose, leaf,
    /** Takes the axes of another sweep; its cells are made by now. */
    take(given) {
      axes = given;
      byPlace = new Map([...cells.values()].map((one) => [one.at.map((index, at) => axes[at][1].length > 1 ? index : 0).join(), one]));
      build();
    },
    /** Whether rows, columns or page were set since it was built. */
    isOld: () => laidOut() !== laid,
    /** Where a cell stands, in words. */
    placeOf: (one) => axes.filter(([, labels]) => labels.length > 1).map(([name, labels]) => `${name} ${labels[one.at[axis(name)]]}`).join(", "),
  };
}
