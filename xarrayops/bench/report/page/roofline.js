// Throughput by arithmetic intensity, with the roofline of each device and dtype.

const rateOf = (row) => row.operations / row.median_s;
const intensity = (row) => row.operations / row.nbytes;

function drawRooflines() {
  const dots = rows.filter((row) => measured(row) && row.operations > 0 && row.nbytes > 0);
  if (!dots.length) return hideSection("roofline");
  const groups = groupBy(dots, (row) => JSON.stringify([derived.get(row).roof_device, row.dtype]));
  byId("roof-plots").append(...[...groups.values()].map(roofPlot));
  drawKey("roof-key", placesOf(dots));
}

function roofPlot(own) {
  const { left, right, top, bottom } = PLOT;
  const [{ dtype }] = own;
  const device = derived.get(own[0]).roof_device;
  const roof = (environment.roofs ?? []).find((known) => known.device === device && known.dtype === dtype) ?? {};
  const ridge = roof.memory > 0 && roof.compute > 0 ? [roof.compute / roof.memory] : [];
  const x = logScale([...own.map(intensity), ...ridge], left, right);
  const roofs = own.map((row) => allowed(roof, intensity(row))).filter(Number.isFinite);
  const y = logScale([...own.map(rateOf), ...roofs], bottom, top);
  const plot = axes(`${device}, ${dtype}: throughput by arithmetic intensity`,
    { scale: x, text: short, title: "operations per byte" },
    { scale: y, text: shortRate, title: "FLOP/s" });
  plot.append(...roofLine(roof, x, y), ...names(own, roof, x, y),
    ...own.map((row) => mark(row, x.at(intensity(row)), y.at(rateOf(row)))));
  roving(plot, ".mark", 1);
  return figure(labelled(device, own.map(deviceLabel).find(Boolean)), dtype,
    [plot, el("p", { class: "roofs" }, roofText(roof, dtype))]);
}

/** The lower of the known memory and compute limits at an intensity. */
const allowed = ({ memory, compute }, at) => Math.min(memory > 0 ? memory * at : Infinity, compute > 0 ? compute : Infinity);

/** The name of each workload above its fastest dot, below its slowest or to the left, where it fits. */
function names(own, roof, x, y) {
  const taken = [];
  const position = (row) => ({ x: x.at(intensity(row)), y: y.at(rateOf(row)) });
  const dots = own.map(position);
  const near = (other, at, width, height) => Math.abs(other.x - at.x) < width && Math.abs(other.y - at.y) < height;
  const isFree = (at) => at.x + at.half <= PLOT.right && at.x - at.half >= PLOT.left && at.y < PLOT.bottom - 6 &&
    Math.abs(at.roof - at.y) > 9 && !dots.some((dot) => near(dot, at, at.half + 5, 11)) &&
    !taken.some((other) => near(other, at, other.half + at.half, 14));
  const label = ([text, cells]) => {
    const byRate = [...cells].sort((a, b) => rateOf(b) - rateOf(a));
    const half = 3.8 * text.length;
    const nearby = (row, right, down) => ({ x: position(row).x + right, y: position(row).y + down, half,
      roof: y.at(allowed(roof, intensity(row))) });
    const [first, last] = [byRate[0], byRate[byRate.length - 1]];
    const at = [nearby(first, 0, -13), nearby(last, 0, 14), nearby(first, -half - 8, 0)].find(isFree);
    if (!at) return null;
    taken.push(at);
    return svg("text", { class: "end", x: at.x, y: at.y + 4, "text-anchor": "middle" }, text);
  };
  return [...groupBy(own, (row) => row.workload)].map(label).filter(Boolean);
}

/** The line of the roofline within the axes. */
function roofLine(roof, x, y) {
  const { memory, compute } = roof;
  const start = memory > 0 ? Math.max(x.low, y.low / memory) : x.low;
  const corner = memory > 0 && compute > 0 ? [compute / memory] : [];
  const level = compute > 0 && compute <= y.high;
  const end = memory > 0 && !level ? Math.min(x.high, y.high / memory) : x.high;
  const points = [start, ...corner, end].filter((v) => v >= start && v <= end && Number.isFinite(allowed(roof, v)));
  if (points.length < 2) return [];
  return [svg("path", { class: "roof",
    d: points.map((v, i) => `${i ? "L" : "M"}${x.at(v).toFixed(1)} ${y.at(allowed(roof, v)).toFixed(1)}`).join("") })];
}

function roofText(roof, dtype) {
  const parts = [
    roof.memory > 0 && `memory ${rate(roof.memory, "B/s")} (${roof.memory_by})`,
    roof.compute > 0 && `compute ${rate(roof.compute, "FLOP/s")} (${roof.compute_by})`,
  ].filter(Boolean);
  if (parts.length) return `Limits: ${parts.join(", ")}`;
  return `No limits: ${dtype.includes("float") ? "the budget ended first, or the answers were wrong."
    : "they are measured for floating-point dtypes only."}`;
}
