// What stands packed in the page, unpacked; how a cell's numbers are looked up and said.

async function unpack(id) {
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

const unpackData = async () => JSON.parse(await unpack("data"));

// The chart library; after the heat map, which does not need it.
async function loadLibrary() {
  document.head.append(element("script", {}, await unpack("library")));
}

const number = new Intl.NumberFormat("en-US");
const percent = (share) => `${Math.round(share * 1000) / 10}%`;
const kilobytes = (bytes) => `${number.format(Math.round((bytes / 1024) * 10) / 10)} KB`;
const milliseconds = (ms) => (ms < 1 ? `${Number((ms * 1e3).toPrecision(3))} us` : `${Number(ms.toPrecision(3))} ms`);

const MARKS = { fits: "\u2713", maybe: "~", no: "\u2717", unknown: "?" };
const STATES = { fits: "fits", maybe: "may not fit", no: "does not fit", unknown: "not known" };
const SHORT = { "shared memory": "smem", registers: "regs", "tensor memory": "tmem" };

// What the shade of a cell shows. `value` is null where there is none; `good`: the larger the better, or the smaller.
const METRICS = {
  ctas: {
    label: "CTAs per SM", good: 1, value: (cell) => cell.ctas,
    text: (cell) => `${cell.ctas} ${SHORT[cell.limiter] || cell.limiter || ""}`,
  },
  occupancy: {
    label: "occupancy", good: 1, value: (cell) => cell.occupancy, text: (cell) => percent(cell.occupancy),
  },
  time: {
    label: "predicted time", good: -1, value: (cell) => cell.time,
    text: (cell) => (cell.time == null ? "-" : milliseconds(cell.time)),
  },
  shared: {
    label: "shared memory", good: -1, value: (cell) => cell.shared,
    text: (cell) => (cell.exact ? "" : "~") + kilobytes(cell.shared),
  },
  registers: {
    label: "registers per thread", good: -1, value: (cell) => cell.registers[0],
    text: (cell) => (cell.registers[0] == null ? "-" : `~${cell.registers[0]}`),
  },
  waves: {
    label: "wave efficiency", good: 1, value: (cell) => (cell.waves ? cell.waves[4] : null),
    text: (cell) => (cell.waves ? percent(cell.waves[4]) : "-"),
  },
};

const runs = (cell) => cell != null && cell.state === "fits";

function valueOf(cell, metric) {
  return runs(cell) ? METRICS[metric].value(cell) : null;
}

function textOf(cell, metric, strings) {
  if (!cell) return "";
  if (runs(cell)) return METRICS[metric].text(cell);
  if (cell.state === "maybe") return "over a limit?";
  if (cell.over) return `+${number.format(cell.over)} B`;
  if (cell.state === "unknown") return "";
  const why = strings[cell.why[0]] || ""; // "threads: 2,048 exceed 1,024", "line 12: ..."
  return why.startsWith("line ") ? "no compile" : why.split(":")[0];
}

// What a cell means, for a reader that hears it after its mark and number.
function described(cell, strings) {
  if (!runs(cell)) return ((cell && cell.why) || []).map((place) => strings[place]).join("; ");
  const programs = `${cell.ctas} CTA${cell.ctas === 1 ? "" : "s"} per SM, limited by ${cell.limiter}`;
  const time = cell.time == null ? [] : [`about ${milliseconds(cell.time)}`];
  return [programs, `occupancy ${percent(cell.occupancy)}`, ...time].join(", ");
}

const OPTION_NAMES = { num_warps: "warps", num_stages: "stages", num_ctas: "ctas" };
const parameterText = ([name, value]) => `${OPTION_NAMES[name] || name}=${value}`;

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value == null) continue;
    made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

const escaped = (text) =>
  String(text).replace(/[&<>"']/g, (char) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" })[char]);
