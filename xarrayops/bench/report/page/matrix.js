// The matrix of lines and places, which can be filtered, sorted and compared.

const view = { text: "", group: "", dtype: "", status: "", compare: "fastest", by: "ratio", column: null, down: false };
const shown = new Set(places.filter((place) => place.here).map((place) => place.name));
const FACTS = [
  ["workload", ["Workload", el("small", { class: "narrow" }, "n, dtype")], (line) => line.workload],
  ["size", "n", (line) => line.size],
  ["dtype", "dtype", (line) => line.dtype],
];

function drawMatrix() {
  drawFilters();
  foldFilters();
  drawHead();
  drawBody();
}

function drawFilters() {
  const choice = (name, label, options) => {
    const select = el("select", { name, onchange: (event) => change(name, event.target.value) },
      options.map(([value, text]) => el("option", { value, selected: view[name] === value }, text)));
    return el("label", {}, el("span", {}, label), select);
  };
  const all = (field) => [["", "all"], ...unique(rows.map((row) => row[field])).map((name) => [name, name])];
  const references = [["fastest", "the fastest of its row"], ...(comparison ? [["earlier", "the earlier run"]] : []),
    ...places.filter((place) => place.series != null).map(({ name }) => [name, name])];
  byId("filters").append(
    el("label", {}, el("span", {}, "Find"), el("input", {
      type: "search", name: "text", placeholder: "workload or dtype", autocomplete: "off",
      oninput: (event) => change("text", event.target.value),
    })),
    choice("group", "Group", all("group")), choice("dtype", "dtype", all("dtype")),
    choice("status", "Status", all("status")), choice("compare", "Compare with", references),
    choice("by", "Sort by", [["ratio", "ratio"], ["time", "time"]]),
    el("fieldset", { class: "chips" }, el("legend", {}, "Backends"), places.map(placeChip)),
  );
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
}

/** The filters are collapsed in a narrow window, so that the results come first. */
function foldFilters() {
  const wide = window.matchMedia("(min-width: 40rem)");
  const fold = () => { byId("controls").open = wide.matches; };
  wide.addEventListener("change", fold);
  fold();
}

function placeChip({ name, here }) {
  const toggle = (event) => {
    event.target.checked ? shown.add(name) : shown.delete(name);
    drawHead();
    drawBody();
  };
  return el("label", { class: "chip" },
    el("input", { type: "checkbox", name: "place", value: name, checked: shown.has(name), onchange: toggle }),
    el("span", {}, name, !here && el("small", {}, " (not available)")));
}

function change(name, value) {
  view[name] = value;
  drawBody();
}

const columns = () => places.filter((place) => shown.has(place.name));

function drawHead() {
  const sorter = (kind, column, label, more = []) =>
    el("th", { scope: "col", role: "columnheader", "data-column": column, "aria-sort": "none", class: kind },
      el("button", { type: "button", class: "sort", onclick: () => sortBy(column) }, label), ...more);
  const head = columns().map((place) => sorter("place", `=${place.name}`, placeLabel(place), [tally(place)]));
  const thead = el("thead", { role: "rowgroup" },
    el("tr", { role: "row" }, ...FACTS.map(([name, label], i) => sorter(i ? "wide" : null, name, label)), ...head));
  const tbody = el("tbody", { role: "rowgroup" });
  // The roles are explicit, because some browsers drop those of a table with a grid layout.
  byId("matrix-frame").replaceChildren(el("table", { class: "matrix", role: "table" },
    el("caption", { class: "unseen" }, "Median time of a call, and its ratio to the selected reference"), thead, tbody));
  scrollInStep(thead, tbody);
}

/** A sticky header cannot be inside a box that scrolls horizontally, so header and body scroll in step. */
function scrollInStep(thead, tbody) {
  thead.onscroll = () => { tbody.scrollLeft = thead.scrollLeft; };
  tbody.onscroll = () => { thead.scrollLeft = tbody.scrollLeft; };
}

const placeLabel = ({ backend, device }) => [el("span", {}, backend), device && el("small", {}, device)];

function tally({ name }) {
  const own = lines.map((line) => line.cells.get(name)).filter(Boolean);
  const filled = own.filter(measured).length;
  const won = [`★ ${marked(name, "fastest")} of ${filled}`, ...tiesText(marked(name, "tie"))];
  return el("small", { class: "tally" }, filled ? won.map(unbroken).join(", ") : "none measured");
}

function sortBy(column) {
  view.down = view.column === column && !view.down;
  view.column = column;
  drawBody();
}

/** The sort key of a line. Null sorts last in both directions. */
function sortKey(line) {
  const fact = FACTS.find(([name]) => name === view.column);
  if (fact) return fact[2](line);
  const row = line.cells.get(view.column.slice(1));
  if (!measured(row)) return null;
  return view.by === "time" ? row.median_s : ratio(row, view.compare);
}

function sorted(chosen) {
  if (!view.column) return chosen;
  const keyed = chosen.map((line) => [sortKey(line), line]);
  const order = ([a, first], [b, second]) => {
    if (a == null || b == null) return (a == null) - (b == null) || first.order - second.order;
    const rank = typeof a === "string" ? a.localeCompare(b) : a - b;
    return (view.down ? -rank : rank) || first.order - second.order;
  };
  return keyed.sort(order).map(([, line]) => line);
}

function isChosen(line) {
  const text = `${line.workload} ${line.dtype} ${line.group}`.toLowerCase();
  const cells = columns().map((place) => line.cells.get(place.name));
  return view.text.toLowerCase().split(/\s+/).every((word) => text.includes(word)) &&
    (!view.group || line.group === view.group) && (!view.dtype || line.dtype === view.dtype) &&
    (!view.status || cells.some((row) => row?.status === view.status));
}

function drawBody() {
  drawScale();
  const chosen = sorted(lines.filter(isChosen));
  const shownPlaces = columns();
  const frame = byId("matrix-frame");
  for (const th of frame.querySelectorAll("[data-column]")) {
    const current = th.dataset.column === view.column;
    th.setAttribute("aria-sort", !current ? "none" : view.down ? "descending" : "ascending");
  }
  frame.querySelector("tbody").replaceChildren(...chosen.map((line) => drawLine(line, shownPlaces)));
  roving(frame.querySelector("tbody"), "button", shownPlaces.length);
  byId("count").textContent = `${chosen.length} of ${lines.length} rows, ${shownPlaces.length} of ${places.length} ` +
    "backends. Click a cell for its details; arrow keys move between cells.";
}

function drawLine(line, shownPlaces) {
  return el("tr", { role: "row" },
    el("th", { scope: "row", role: "rowheader" }, line.workload,
      el("small", { class: "narrow" }, `${count(line.size)} ${line.dtype}`)),
    el("td", { class: "wide number", role: "cell" }, count(line.size)), el("td", { class: "wide", role: "cell" }, line.dtype),
    ...shownPlaces.map((place) => drawCell(line.cells.get(place.name))));
}

function drawCell(row) {
  if (!row) return el("td", { class: "void", role: "cell" }, "–");
  const colour = measured(row) ? colourOf(row) : { class: "empty" };
  const dimmed = view.status && row.status !== view.status ? " dimmed" : "";
  return el("td", { role: "cell" }, el("button", {
    type: "button", tip: tipOf(row), "aria-haspopup": "dialog", onclick: () => openDetail(row),
    ...colour, class: `cell ${colour.class}${dimmed}`,
  }, measured(row) ? drawTime(row) : row.status));
}

function drawTime(row) {
  const { mark, earlier } = derived.get(row);
  const part = ratio(row, view.compare);
  const words = mark === "fastest" ? "★ fastest" : mark;
  const number = view.compare === "fastest" && mark === "fastest" ? "" : times(part);
  const before = view.compare === "earlier" ? null : earlier?.ratio;
  return [
    el("span", { class: "time" }, seconds(row.median_s), row.note && " †"),
    el("span", { class: "ratio" }, [words, number].filter(Boolean).join(" ") || "–"),
    before && el("span", { class: "before" }, `${TREND[earlier.outcome]} ${times(before)} of earlier`),
  ];
}

/** The change of a cell that both runs measured. */
const TREND = { slower: "▲ slower:", faster: "▼ faster:", same: "=", undecided: "≈" };

/** The colour strength of a ratio in per cent. A factor of a hundred is the strongest. */
const heat = (part) => Math.round(12 + 78 * Math.min(1, Math.abs(Math.log10(part)) / 2));

/** The colour of a cell, from its mark or its ratio. */
function colourOf(row) {
  const part = ratio(row, view.compare);
  if (part == null) return { class: "" };
  if (view.compare === "fastest" && derived.get(row).mark) return { class: derived.get(row).mark };
  const sure = Math.abs(Math.log(part)) > Math.log(1 + (resolution ?? 0));
  return { class: !sure ? "" : part < 1 ? "won" : "lost", "--heat": heat(part) };
}

function tipOf(row) {
  const why = [`${placeName(row)}: ${row.status}`, row.reason, row.fix && `Fix: ${row.fix}`];
  if (!measured(row)) return why.filter(Boolean).join("\n");
  return [
    `${placeName(row)}: ${seconds(row.median_s)}`, row.note,
    cellTitle(row),
    row.low_s != null && `interval ${seconds(row.low_s)} to ${seconds(row.high_s)}`,
    row.throughput != null && rate(row.throughput, row.throughput_unit),
    row.roof_fraction != null && `${percent(row.roof_fraction)} of the ${row.roof} limit`,
    row.roof_doubt && `roofline not trusted: ${row.roof_doubt}`,
  ].filter(Boolean).join("\n");
}

function drawScale() {
  const step = (kind, strength, text) => el("span", { class: `step ${kind}`, "--heat": strength }, text);
  const steps = (kind, least) => [[1, least], [10, "10×"], [100, "100× and more"]].map(([n, text]) => step(kind, heat(n), text));
  const ahead = view.compare === "fastest" ? [step("fastest", 0, "★ fastest"), step("tie", 0, "tie")]
    : steps("won", "faster").reverse();
  byId("scale").replaceChildren(...ahead, ...steps("lost", "slower"), step("empty", 0, "not measured"));
}
