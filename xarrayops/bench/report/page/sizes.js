// Time by size: a plot for each workload and dtype with more than one size, with a line for each place.

function drawSizes() {
  const groups = [...groupBy(rows.filter(measured), (row) => JSON.stringify([row.workload, row.dtype])).values()]
    .filter((own) => unique(own.map((row) => row.size)).length > 1);
  if (!groups.length) return hideSection("sizes");
  byId("size-plots").append(...groups.map(sizePlot));
  drawKey("size-key", placesOf(groups.flat()));
}

function sizePlot(own) {
  const { left, right, top, bottom } = PLOT;
  const [{ workload, dtype }] = own;
  const byPlace = [...groupBy(own, placeName).values()].map((line) => line.sort((a, b) => a.size - b.size));
  const x = logScale(own.map((row) => row.size), left, right - 74);
  const y = logScale(own.map((row) => row.median_s), bottom, top);
  const plot = axes(`${workload}, ${dtype}: time by size`, { scale: x, text: short, title: "n" },
    { scale: y, text: shortSeconds, title: "time" });
  plot.append(...byPlace.map((line) => linePath(line, x, y)), ...endLabels(byPlace, x, y),
    ...byPlace.flat().map((row) => mark(row, x.at(row.size), y.at(row.median_s))));
  roving(plot, ".mark", Math.max(...byPlace.map((line) => line.length)));
  return figure(workload, dtype, plot);
}

const linePath = (line, x, y) => svg("path", {
  class: `line ${seriesClass(placeByName.get(placeName(line[0])))}`,
  d: line.map((row, i) => `${i ? "L" : "M"}${x.at(row.size).toFixed(1)} ${y.at(row.median_s).toFixed(1)}`).join(""),
});

/** The name of each place at the end of its line. Labels are shifted so that they do not overlap. */
function endLabels(byPlace, x, y) {
  const alone = (row) => places.filter((place) => place.backend === row.backend && place.series != null).length === 1;
  const labels = byPlace.map((line) => line[line.length - 1])
    .map((row) => ({ x: x.at(row.size), at: y.at(row.median_s), text: alone(row) ? row.backend : placeName(row) }))
    .sort((a, b) => a.at - b.at);
  let floor = PLOT.top;
  for (const label of labels) floor = (label.y = Math.max(label.at, floor)) + 13;
  const over = Math.max(0, floor - 13 - PLOT.bottom);
  return labels.map((label) => svg("text", { class: "end", x: label.x + 10, y: label.y - over + 4 },
    label.text.length > 11 ? `${label.text.slice(0, 10)}…` : label.text));
}
