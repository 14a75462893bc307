// Facts of the whole run: the headline, the regret, the empty cells, the environment, and the comparison.

function drawHeadline() {
  byId("machine").textContent = unique(rows.map((row) => row.label || row.machine)).filter(Boolean).join(", ");
  byId("provenance").append(dateText(environment.date), " ", environment.command ? el("code", {}, environment.command) : "");
  const here = rows.filter((row) => row.device);
  const filled = here.filter(measured).length;
  tile("Cells measured", `${filled} of ${here.length}`,
    here.length < rows.length ? `${rows.length - here.length} more belong to unavailable libraries` : "");
  tile("Resolution", resolution == null ? "unknown" : percent(resolution), "difference of the same work, measured twice");
  if (filled) tile("Fastest most often", ...winners());
  if (environment.seconds != null) tile("Duration of the run", `${Math.round(environment.seconds)} s`, "");
  byId("resolution").textContent = data.summary;
  byId("warnings").append(...data.warnings.map((text) => el("p", { class: "warning" }, text)), ...doubts());
}

/** The backends that are fastest in most rows, and the counts of the others. Ties do not count. */
function winners() {
  const won = places.map(({ name }) => [name, marked(name, "fastest")]).filter(([, n]) => n).sort(([, a], [, b]) => b - a);
  const ties = tiesText(lines.filter((line) => line.ties > 1).length);
  if (!won.length) return ["no backend", [`none is clearly the fastest in any of ${lines.length} rows`, ...ties].join("; ")];
  const most = won[0][1];
  const first = won.filter(([, n]) => n === most).map(([name]) => name);
  const others = won.slice(first.length).map(([name, n]) => `${name} ${n}`);
  const counts = [`${most} of ${lines.length} rows${first.length > 1 ? " each" : ""}`, ...others, ...ties];
  return [first.join(", "), counts.map(unbroken).join("; ")];
}

const dateText = (date = "") => date.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d).*$/, "$1, $2 UTC");

function tile(name, value, more) {
  byId("tiles").append(el("div", {}, el("dt", {}, name), el("dd", {}, el("b", {}, value), more && el("small", {}, more))));
}

function doubts() {
  const found = rows.filter((row) => row.roof_doubt);
  const lines = found.map((row) => el("li", {}, `${placeName(row)}, ${cellTitle(row)}: ${row.roof_doubt}`));
  if (!found.length) return [];
  return [el("details", { class: "warning" }, el("summary", {}, `Cells whose roofline is not trusted: ${found.length}`),
    el("ul", {}, lines))];
}

function drawRegret() {
  if (!data.rankings.length) return;
  byId("regret").hidden = false;
  document.querySelector('nav a[href="#regret"]').hidden = false;
  byId("regret-tables").append(...data.rankings.flatMap(({ title, columns, lines }) =>
    [el("h3", {}, title), el("div", { class: "frame" }, table(title, columns, lines))]));
}

function drawMissing() {
  const { columns, lines } = data.missing;
  byId("missing-table").append(lines.length
    ? table("Not measured", columns, lines.map((cells) => cells.map(folded))) : "Every cell was measured.");
}

/** Long texts are collapsed. */
const folded = (text) =>
  (text.length < 160 ? text : el("details", {}, el("summary", {}, `${text.slice(0, 60)}…`), text));

const drawNotes = () => byId("notes-list").append(...data.notes.map((note) => el("li", {}, note)));

function drawEnvironment() {
  const framed = (title, columns, lines) =>
    lines.length > 0 && [el("h3", {}, title), el("div", { class: "frame" }, table(title, columns, lines))];
  const listed = (title, known = {}) => framed(title, ["Name", "Value"],
    Object.entries(known).map(([name, value]) => [named(name), plain(value, name)]));
  const { machine, settings, versions, devices = {}, pools = {}, roofs = [], switches = {}, gpus = [],
    machines = { columns: [], lines: [] } } = environment;
  const attributes = Object.entries(devices).flatMap(([name, own]) => own
    .filter((device) => Object.keys(device.attributes ?? {}).length)
    .map((device) => [`${name} ${device.name}`, plain(device.attributes)]));
  const kernels = Object.entries(pools).map(([name, own]) => [name, own.map(poolText).join("; ")]);
  byId("environment-tables").append(...[
    framed("Machines", machines.columns, machines.lines),
    listed("Machine", machine), listed("Versions", versions), listed("Settings", settings),
    listed("Precision switches", switches),
    framed("GPUs (reported by the driver)", ["GPU", "Attributes"],
      gpus.map(({ index, name, ...more }) => [`${index} ${name}`, plain(more)])),
    data.gpus.lines.length > 0 && framed("GPUs during the run", data.gpus.columns, data.gpus.lines),
    framed("Thread pools and BLAS", ["Backend", "Pools"], kernels),
    framed("Devices (reported by the libraries)", ["Device", "Attributes"], attributes),
    framed("Rooflines", ["Device", "dtype", "Memory", "Compute"], roofs.map((roof) => [roof.device, roof.dtype,
      roofCell(roof.memory, "B/s", roof.memory_by, roof.memory_rated), roofCell(roof.compute, "FLOP/s", roof.compute_by)])),
  ].flat().filter(Boolean));
}

const roofCell = (value, unit, by, rated) => (value > 0
  ? `${rate(value, unit)}${by ? ` with ${by}` : ""}${rated ? `; rated at ${rate(rated, unit)}` : ""}` : "–");

const poolText = ({ internal_api, version, architecture, num_threads }) =>
  [internal_api, version, architecture, num_threads && `${num_threads} threads`].filter(Boolean).join(" ");

/** The name without its unit suffix; the unit is shown with the value. */
const named = (key) => key.replace(/_(bytes|hz|w)$/, "").replaceAll("_", " ");

/** Plain data as text. */
function plain(value, name = "") {
  if (Array.isArray(value)) return value.map((part) => plain(part, name)).join("; ");
  if (value && typeof value === "object") {
    return Object.entries(value).map(([key, part]) => `${named(key)} ${plain(part, key)}`).join(", ");
  }
  if (typeof value === "number" && name.endsWith("_bytes")) return bytes(value);
  if (typeof value === "number" && name.endsWith("_hz")) return `${(value / 1e9).toPrecision(3)} GHz`;
  if (typeof value === "number" && name.endsWith("_w")) return `${value} W`;
  return value == null ? "" : String(value);
}

function drawComparison() {
  if (!comparison) return;
  byId("comparison").hidden = false;
  document.querySelector('nav a[href="#comparison"]').hidden = false;
  const { columns, lines, differences } = comparison;
  byId("comparison-table").append(lines.length ? table("Changed cells", columns, lines) : "No cell changed.");
  byId("differences-table").append(differences.length
    ? table("Differences", ["entry", "earlier", "now"], differences.map((texts) => texts.map(folded))) : "No differences.");
}
