// Shared parts of the plots: logarithmic axes, marks that differ in colour and shape, and the legend.

const SHAPES = [
  "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0Z", "M-4 -4H4V4H-4Z", "M0 -5.5L5 4H-5Z", "M0 -6L5.5 0L0 6L-5.5 0Z",
  "M0 5.5L5 -4H-5Z", "M-1.6 -5H1.6V-1.6H5V1.6H1.6V5H-1.6V1.6H-5V-1.6H-1.6Z", "M-5 -2.5H5V2.5H-5Z", "M-2.5 -5H2.5V5H-2.5Z",
];
const COLOURS = 8;
const PLOT = { width: 440, height: 280, left: 62, right: 430, top: 26, bottom: 238 };

const seriesClass = (place) => `series s${place.series % COLOURS}${place.series >= COLOURS ? " again" : ""}`;
const shapeOf = (place) => SHAPES[(place.series + Math.floor(place.series / COLOURS)) % SHAPES.length];

/** Maps values to pixels. Ticks are powers of ten, with intermediate steps if there are few. */
function logScale(values, from, to) {
  const logs = values.map(Math.log10);
  const middle = (Math.min(...logs) + Math.max(...logs)) / 2;
  const half = Math.max(0.35, (Math.max(...logs) - Math.min(...logs)) / 2 + 0.12);
  const [low, high] = [middle - half, middle + half];
  const at = (value) => from + ((Math.log10(value) - low) / (high - low)) * (to - from);
  const steps = high - low > 3 ? [1] : high - low > 1.4 ? [1, 3] : [1, 2, 5];
  const every = Math.ceil((high - low) / 6);
  const ticks = [];
  for (let power = Math.ceil(low - 1); power <= high; power++) {
    if (power % every) continue;
    ticks.push(...steps.map((step) => step * 10 ** power).filter((v) => Math.log10(v) >= low && Math.log10(v) <= high));
  }
  return { at, ticks, low: 10 ** low, high: 10 ** high };
}

/** An SVG element with axes and units, to which marks are added. */
function axes(label, x, y) {
  const { left, right, top, bottom, width, height } = PLOT;
  const grid = [
    ...x.scale.ticks.map((v) => [svg("line", { class: "grid", x1: x.scale.at(v), x2: x.scale.at(v), y1: top, y2: bottom }),
      svg("text", { x: x.scale.at(v), y: bottom + 17, "text-anchor": "middle" }, x.text(v))]),
    ...y.scale.ticks.map((v) => [svg("line", { class: "grid", x1: left, x2: right, y1: y.scale.at(v), y2: y.scale.at(v) }),
      svg("text", { x: left - 7, y: y.scale.at(v) + 4, "text-anchor": "end" }, y.text(v))]),
  ];
  return svg("svg", { class: "plot", viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": label }, ...grid.flat(),
    svg("text", { class: "unit", x: right, y: height - 6, "text-anchor": "end" }, x.title),
    svg("text", { class: "unit", x: 2, y: 12 }, y.title));
}

/** The mark of a cell, with a tooltip. A click opens its details. */
function mark(row, x, y) {
  const place = placeByName.get(placeName(row));
  const open = () => openDetail(row);
  const onkeydown = (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); open(); } };
  return svg("g", {
    class: `mark ${seriesClass(place)}`, transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`, role: "button",
    "aria-label": tipOf(row).replace(/\n/g, ", "), tip: tipOf(row), onclick: open, onkeydown,
  }, svg("circle", { class: "target", r: 11 }), svg("path", { d: shapeOf(place) }));
}

function drawKey(id, used) {
  const sign = (place) => svg("svg", { viewBox: "-8 -8 16 16", class: seriesClass(place), "aria-hidden": "true" },
    svg("path", { d: shapeOf(place) }));
  byId(id).replaceChildren(...used.map((place) => el("span", {}, sign(place), place.name)));
}

const figure = (title, subtitle, plot) => el("figure", {},
  el("figcaption", {}, el("strong", {}, title), " ", el("span", {}, subtitle)), plot);

const placesOf = (own) => places.filter((place) => own.some((row) => placeName(row) === place.name));

/** Hides a section without plots, and its link. */
function hideSection(id) {
  byId(id).hidden = true;
  document.querySelector(`nav a[href="#${id}"]`).hidden = true;
}
