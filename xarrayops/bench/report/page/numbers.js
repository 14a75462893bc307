// Numbers as text: three significant digits and a unit. Unknown values are empty.

function digits(value) {
  return Math.abs(value) < 999.5 ? value.toPrecision(3).replace(/\.$/, "") : value.toFixed(0);
}

function withUnit(value, units) {
  const [unit, scale] = units.find(([, least]) => value >= least) || units[units.length - 1];
  return `${digits(value / scale)} ${unit}`;
}

const seconds = (value) =>
  value == null ? "" : value === 0 ? "0 s" : withUnit(value, [["s", 1], ["ms", 1e-3], ["µs", 1e-6], ["ns", 1e-9]]);

const rate = (value, unit) =>
  value == null ? "" : withUnit(value, [["T", 1e12], ["G", 1e9], ["M", 1e6], ["k", 1e3]].map(([p, s]) => [p + unit, s]));

const bytes = (value) =>
  value == null ? "" : value === 0 ? "0" : withUnit(value, [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]]);

const percent = (part) => (part == null ? "" : `${digits(100 * part).replace(/\.0+$/, "")} %`);

/** A ratio with three digits; small ratios have two significant digits. */
const times = (ratio) =>
  ratio == null ? "" : `${ratio < 0.0995 ? ratio.toPrecision(2) : ratio < 9.995 ? ratio.toFixed(2) : digits(ratio)}×`;

const small = (value) => (value == null ? "" : value === 0 ? "0" : value.toExponential(0));

const count = (value) => value.toLocaleString("en-US");

/** Text without line breaks. */
const unbroken = (text) => text.replaceAll(" ", "\u00a0");

const shapes = (list) => list.map((shape) => shape.join("×") || "scalar").join(", ");

/** A short label for an axis: 1, 10, 1 k, 1 M. */
function short(value) {
  const [prefix, scale] = [["G", 1e9], ["M", 1e6], ["k", 1e3], ["", 1]].find(([, least]) => value >= least) || ["", 1];
  return `${+(value / scale).toPrecision(2)}${prefix && " "}${prefix}`;
}

const shortSeconds = (value) => seconds(value).replace(/\.0+(?= )/, "");
const shortRate = (value) => rate(value, "").replace(/\.0+(?= )/, "");
