// All that is known of one cell.

function openDetail(row) {
  const dialog = byId("detail");
  dialog.replaceChildren(
    el("form", { method: "dialog" }, el("button", { class: "close", "aria-label": "Close" }, "×")),
    el("h2", { id: "detail-title" }, row.workload),
    el("p", { class: "lead" }, `${row.backend} ${deviceText(row)}`.trim(), ` · n = ${count(row.size)} · ${row.dtype}`,
      row.shape.length > 0 && ` · ${shapes(row.shape)}`),
    ...(measured(row) ? measuredDetail(row) : missingDetail(row)),
    ...workloadDetail(row),
  );
  dialog.onclick = (event) => { if (event.target === dialog) dialog.close(); };
  dialog.showModal();
  dialog.scrollTop = 0;
}

function missingDetail(row) {
  return [
    el("p", { class: "headline" }, `Not measured: ${row.status}`),
    row.reason && el("p", {}, row.reason),
    row.fix && el("p", {}, el("strong", {}, "What helps: "), el("code", {}, row.fix)),
    told.get(row).earlier && el("p", {}, `Since the earlier run: ${earlierFact(row)}`),
    versionsDetail(row),
  ];
}

function measuredDetail(row) {
  return [
    row.roof_doubt && el("p", { class: "warning" }, `The time is valid, the roof is not trusted: ${row.roof_doubt}`),
    el("p", { class: "headline" }, seconds(row.median_s), " ", el("span", { class: "rank" }, rank(row))),
    clocks(row),
    facts(row),
    strip(row),
    versionsDetail(row),
  ];
}

function rank(row) {
  const { best, ties } = lineByName.get(lineName(row));
  const { mark } = told.get(row);
  if (mark) return ties > 1 ? `tie of ${ties} for the fastest` : "★ fastest";
  return row === best ? "" : `${times(ratio(row, "fastest"))} the time of ${placeName(best)}`;
}

function clocks(row) {
  const interval = row.low_s == null ? "one round: no interval"
    : `${seconds(row.low_s)} to ${seconds(row.high_s)}${row.confidence == null ? "" : `, ${percent(row.confidence)} sure`}`;
  return table("Clocks", ["Clock", "Time", ""], [
    ["First call", seconds(row.first_call_s) || "–", "with compilation"],
    ["Transfer", seconds(row.transfer_s) || "–", "inputs from NumPy"],
    ["Cold", seconds(row.cold_s) || "–", "caches filled with other data"],
    ["Hot", el("strong", {}, seconds(row.median_s)), `${interval}; ${count(row.calls)} calls`],
    ["Import", seconds(row.import_s) || "–", "once per process, with start-up"],
  ]);
}

function facts(row) {
  const known = [
    ["Throughput", rate(row.throughput, row.throughput_unit)],
    ["Part of the roof", roofFact(row)],
    ["Peak memory", bytes(row.peak_bytes)],
    ["Error", errorFact(row)],
    ["Against NumPy", numpyFact(row)],
    ["Wins over NumPy", breakEvenFact(row)],
    ["Against the earlier run", earlierFact(row)],
  ].filter(([, fact]) => fact);
  return el("dl", { class: "facts" }, known.map(([name, fact]) => [el("dt", {}, name), el("dd", {}, fact)]));
}

function roofFact(row) {
  if (row.roof_fraction == null) return "";
  const binds = row.roof === "launch" ? "launch-bound: the time of the library's smallest call" : `bound by ${row.roof}`;
  const wrong = row.roof_doubt ? "roof not trusted, " : "";
  const limit = row.roof_throughput == null ? "" : `, which allows ${rate(row.roof_throughput, row.throughput_unit)}`;
  return [el("meter", { min: 0, max: 1, value: Math.min(1, row.roof_fraction), "aria-label": "Part of the roof" }),
    ` ${percent(row.roof_fraction)} ${wrong}(${binds}${limit})`];
}

const errorFact = (row) =>
  row.error == null ? "" : `${small(row.error)}${row.tolerance == null ? "" : `, up to ${small(row.tolerance)} passes`}`;

function numpyFact(row) {
  const numpy = numpyOf(lineByName.get(lineName(row)));
  if (!numpy || numpy === row) return "";
  const faster = row.median_s < numpy.median_s;
  return `${times(faster ? numpy.median_s / row.median_s : row.median_s / numpy.median_s)} ${faster ? "faster" : "slower"}`;
}

function breakEvenFact(row) {
  const { ahead, wins_from } = told.get(row);
  if (!ahead) return "";
  const [first, last] = ahead;
  if (first == null) return "never";
  const calls = last != null ? `up to ${count(last)} call${last === 1 ? "" : "s"} only`
    : first === 1 ? "from the first call on" : `after ${count(first)} calls`;
  return `${calls}, transfer and first call included${wins_from == null ? "" : `; at n = ${count(wins_from)} and above`}`;
}

function earlierFact(row) {
  const { earlier } = told.get(row);
  if (!earlier) return "";
  const part = earlier.ratio == null ? "" : `${times(earlier.ratio)} of ${seconds(earlier.old_s)}, `;
  return `${part}${earlier.outcome}${earlier.reason && `: ${earlier.reason}`}`;
}

/** The median of each round, a line of dots for each process. */
function strip(row) {
  const processes = row.medians_s.map((own, i) => [own, i + 1]).filter(([own]) => own.length);
  const all = row.medians_s.flat();
  if (!all.length) return null;
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const [width, step, margin] = [420, 22, 74];
  const x = (value) => margin + (high > low ? (value - low) / (high - low) : 0.5) * (width - margin - 12);
  const height = processes.length * step + 22;
  const dots = processes.flatMap(([own, number], i) => [
    svg("text", { x: 0, y: i * step + 16 }, `process ${number}`),
    ...own.map((value) => svg("circle", { class: "dot", cx: x(value), cy: i * step + 12, r: 4 })),
  ]);
  const median = svg("line", { class: "median", x1: x(row.median_s), x2: x(row.median_s), y1: 2, y2: height - 20 });
  return el("figure", {}, el("figcaption", {}, "Median of each round; the line is the median of all"),
    svg("svg", { class: "strip", viewBox: `0 0 ${width} ${height}`, role: "img",
      "aria-label": `Rounds from ${seconds(low)} to ${seconds(high)}` }, ...dots, median,
      svg("text", { x: margin, y: height - 4 }, seconds(low)),
      svg("text", { x: width - 12, y: height - 4, "text-anchor": "end" }, seconds(high))));
}

function versionsDetail(row) {
  const known = Object.entries(row.versions);
  const text = known.map(([name, version]) => `${name} ${version}`).join(" · ");
  return text && el("p", { class: "versions" }, text);
}

function workloadDetail(row) {
  const { timed, code } = environment.workloads?.[row.workload] ?? {};
  return [
    timed && el("h3", {}, "What is timed"), timed && el("p", {}, timed),
    code && el("pre", { tabindex: "0" }, el("code", {}, code)),
    el("h3", {}, "Measure this cell again"),
    el("pre", { class: "command", tabindex: "0" }, el("code", {}, commandFor(row))),
  ].filter(Boolean);
}

/** With the options of the run that say what a workload is. */
function commandFor(row) {
  const safe = (text) => (/^[\w .,:+-]+$/.test(text) ? `"${text}"` : `'${text.replace(/'/g, "'\\''")}'`);
  const quoted = (text) => (/^[\w.-]+$/.test(text) ? text : safe(text));
  const kept = (environment.command ?? "").match(/--(size|workload-file)[ =]\S+/g) ?? [];
  return ["python -m xarrayops.bench", "--backends", quoted(row.backend), "--workloads", quoted(row.workload), "--dtype",
    row.dtype, ...kept].join(" ");
}
