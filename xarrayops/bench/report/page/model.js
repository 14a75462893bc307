// The data: lines (a workload at one size and dtype), places (a backend on a device), and the fastest of each line.

const data = JSON.parse(byId("data").textContent);
const { rows, environment, comparison } = data;
const derived = new Map(rows.map((row, i) => [row, data.derived[i]]));
const resolution = environment.resolution;
const NOT_HERE = ["not-installed", "no-device"];

const ofMachine = (row, name) => (row.label ? `${row.label}: ${name}` : name);
const placeName = (row) => ofMachine(row, `${row.backend} ${row.device}`.trim());
const lineName = (row) => JSON.stringify([row.workload, row.size, row.dtype]);
const measured = (row) => row?.status === "ok" && row.median_s != null;
const cellTitle = (row) => `${row.workload}, n = ${count(row.size)}, ${row.dtype}`;
const unique = (values) => [...new Set(values)];
/** The product name of the device, unless it is the same as its kind. */
const deviceLabel = (row) => (row.device_label.toLowerCase() === row.device_kind ? "" : row.device_label);
const labelled = (device, label) => (label ? `${device} (${label})` : device);
const deviceText = (row) => labelled(row.device, deviceLabel(row));

function groupBy(items, name) {
  const groups = new Map();
  for (const item of items) {
    const key = name(item);
    groups.has(key) ? groups.get(key).push(item) : groups.set(key, [item]);
  }
  return groups;
}

/** The places in the order of the run. Those with measurements have a colour and a shape. */
const places = (() => {
  let series = 0;
  return [...groupBy(rows, placeName)].map(([name, own]) => ({
    name,
    device: deviceText(own[0]),
    backend: ofMachine(own[0], own[0].backend),
    here: own.some((row) => !NOT_HERE.includes(row.status)),
    series: own.some(measured) ? series++ : null,
  }));
})();
const placeByName = new Map(places.map((place) => [place.name, place]));

const fastestOf = (own) => own.reduce((first, row) => (first && first.median_s <= row.median_s ? first : row), null);

const lines = [...groupBy(rows, lineName).values()].map((own, order) => {
  const { workload, group, size, dtype } = own[0];
  const best = fastestOf(own.filter(measured));
  const ties = own.filter((row) => derived.get(row).mark).length;
  const cells = new Map(own.map((row) => [placeName(row), row]));
  return { order, workload, group, size, dtype, best, ties, cells };
});
const lineByName = new Map(lines.map((line) => [lineName(line), line]));

/** The number of lines with this mark at a place. */
const marked = (place, mark) => lines.filter((line) => derived.get(line.cells.get(place))?.mark === mark).length;

const tiesText = (n) => (n ? [`${n} ${n === 1 ? "tie" : "ties"}`] : []);

/** The time of a cell relative to a reference: "fastest", "earlier", or the name of a place. */
function ratio(row, reference) {
  if (reference === "earlier") return derived.get(row).earlier?.ratio ?? null;
  const line = lineByName.get(lineName(row));
  const other = reference === "fastest" ? line.best : line.cells.get(reference);
  return measured(row) && measured(other) ? row.median_s / other.median_s : null;
}

/** The measured cell of NumPy with the same work on the same machine. */
const numpyOf = (row) => [...lineByName.get(lineName(row)).cells.values()]
  .find((other) => other.backend === "numpy" && other.label === row.label && measured(other));
