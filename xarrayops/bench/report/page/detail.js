// The details of one cell.

function openDetail(row) {
  const dialog = byId("detail");
  dialog.replaceChildren(
    el("form", { method: "dialog" }, el("button", { class: "close", "aria-label": "Close" }, "×")),
    el("h2", { id: "detail-title" }, row.workload),
    el("p", { class: "lead" }, ofMachine(row, `${row.backend} ${deviceText(row)}`.trim()), ` · n = ${count(row.size)} · ${row.dtype}`,
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
    row.fix && el("p", {}, el("strong", {}, "Fix: "), el("code", {}, row.fix)),
    derived.get(row).earlier && el("p", {}, `Since the earlier run: ${earlierFact(row)}`),
    versionsDetail(row),
  ];
}

function measuredDetail(row) {
  return [
    row.roof_doubt && el("p", { class: "warning" }, `The roofline is not trusted (${row.roof_doubt}). The time is valid.`),
    row.note && el("p", {}, `${row.note}.`),
    el("p", { class: "headline" }, seconds(row.median_s), " ", el("span", { class: "rank" }, rank(row))),
    timesTable(row),
    facts(row),
    strip(row),
    versionsDetail(row),
  ];
}

function rank(row) {
  const { best, ties } = lineByName.get(lineName(row));
  const { mark } = derived.get(row);
  if (mark) return ties > 1 ? `tie of ${ties} for the fastest` : "★ fastest";
  return row === best ? "" : `${times(ratio(row, "fastest"))} the time of ${placeName(best)}`;
}

function timesTable(row) {
  const confidence = row.confidence == null ? "" : ` (${percent(row.confidence)} confidence)`;
  const interval = row.low_s == null ? "one round: no interval"
    : `${seconds(row.low_s)} to ${seconds(row.high_s)}${confidence}`;
  return table("Times", ["Kind", "Time", ""], [
    ["First call", seconds(row.first_call_s) || "–", "with compilation"],
    ["Transfer", seconds(row.transfer_s) || "–", "inputs from NumPy"],
    ["Cold", seconds(row.cold_s) || "–", "with cold caches"],
    ["Warm", el("strong", {}, seconds(row.median_s)), `${interval}; ${count(row.calls)} calls`],
    ["Import", seconds(row.import_s) || "–", "once per process, with start-up"],
  ]);
}

function facts(row) {
  const known = [
    ["Throughput", rate(row.throughput, row.throughput_unit)],
    ["Fraction of roofline", roofFact(row)],
    ["Peak memory", bytes(row.peak_bytes)],
    ["Error", errorFact(row)],
    ["Compared with NumPy", numpyFact(row)],
    ["Ahead of NumPy", breakEvenFact(row)],
    ["Compared with the earlier run", earlierFact(row)],
  ].filter(([, fact]) => fact);
  return el("dl", { class: "facts" }, known.map(([name, fact]) => [el("dt", {}, name), el("dd", {}, fact)]));
}

function roofFact(row) {
  if (row.roof_fraction == null) return "";
  const bound = row.roof === "launch" ? "launch-bound: limited by the library's smallest call" : `${row.roof}-bound`;
  const doubt = row.roof_doubt ? ", not trusted" : "";
  const limit = row.roof_throughput == null ? "" : `, limit ${rate(row.roof_throughput, row.throughput_unit)}`;
  return [el("meter", { min: 0, max: 1, value: Math.min(1, row.roof_fraction), "aria-label": "Fraction of the roofline" }),
    ` ${percent(row.roof_fraction)}${doubt} (${bound}${limit})`];
}

const errorFact = (row) =>
  row.error == null ? "" : `${small(row.error)}${row.tolerance == null ? "" : ` (tolerance ${small(row.tolerance)})`}`;

function numpyFact(row) {
  const numpy = numpyOf(row);
  if (!numpy || numpy === row) return "";
  const faster = row.median_s < numpy.median_s;
  return `${times(faster ? numpy.median_s / row.median_s : row.median_s / numpy.median_s)} ${faster ? "faster" : "slower"}`;
}

function breakEvenFact(row) {
  const { ahead, wins_from } = derived.get(row);
  if (!ahead) return "";
  const [first, last] = ahead;
  if (first == null) return "never";
  const calls = last != null ? `up to ${count(last)} call${last === 1 ? "" : "s"} only`
    : first === 1 ? "from the first call on" : `after ${count(first)} calls`;
  return `${calls}, transfer and first call included${wins_from == null ? "" : `; for n ≥ ${count(wins_from)}`}`;
}

function earlierFact(row) {
  const { earlier } = derived.get(row);
  if (!earlier) return "";
  const part = earlier.ratio == null ? "" : `${times(earlier.ratio)} of ${seconds(earlier.old_s)}, `;
  return `${part}${earlier.outcome}${earlier.reason && `: ${earlier.reason}`}`;
}

/** The median of each round, with a line of dots for each process. */
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
  return el("figure", {}, el("figcaption", {}, "Median of each round. The line is the overall median."),
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

/** The command for one cell, with the options of the run that define its workload. */
function commandFor(row) {
  const safe = (text) => (/^[\w .,:+-]+$/.test(text) ? `"${text}"` : `'${text.replace(/'/g, "'\\''")}'`);
  const quoted = (text) => (/^[\w.-]+$/.test(text) ? text : safe(text));
  const kept = (environment.command ?? "").match(/--(size|workload-file)[ =]\S+/g) ?? [];
  return ["python -m xarrayops.bench", "--backends", quoted(row.backend), "--workloads", quoted(row.workload), "--dtype",
    row.dtype, ...kept].join(" ");
}
