// The 16384 slots: a map of 128 rows, and their load along a line. slots_panel.js says what is in a slot.
const SLOTS = 16384;
const SIDE = 128;
const CELL = 8;
/** Slots that share a column of the curve. */
const BIN = 32;
const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/** A number to base 36; exact as a BigInt where a double is not. */
function base36(text) {
  const number = parseInt(text, 36);
  if (number <= Number.MAX_SAFE_INTEGER) return number;
  return [...text].reduce((sum, digit) => sum * 36n + BigInt(parseInt(digit, 36)), 0n);
}

const metrics = Object.keys(data.slots);
const texts = Object.fromEntries(metrics.map((metric) => [metric, data.slots[metric].split(" ")]));
const exactly = (metric, slot) => base36(texts[metric][slot]);
const loads = {};
/** The load of each slot by the metric that is shown, read when it is shown first. */
const shown = () => (loads[view.metric] ??= new Float64Array(texts[view.metric].map((text) => parseInt(text, 36))));
const owners = new Int32Array(SLOTS);
data.owners.split(" ").reduce((from, run) => {
  const [length, node] = run.split(":");
  const to = from + parseInt(length, 36);
  owners.fill(node === "-" ? -1 : parseInt(node, 36), from, to);
  return to;
}, 0);

/** The fullest slots by the metric that is shown. */
const FULLEST = 20;
const view = { metric: data.by, scale: "linear", slot: null, hot: -1, fullest: [] };
const plane = find("map").getContext("2d");

/**
 * The load of the darkest colour, as in slot-heatmap.png: what 99.9% of the slots do not exceed, but at least twice the
 * mean. One hot slot does not turn all others pale, and small differences do not look like large ones.
 */
function ceiling() {
  const stats = data.stats[view.metric];
  if (view.scale === "log") return stats.max;
  return Math.max(Math.min(stats.max, Math.max(stats.p999, Math.ceil(2 * stats.mean))), 1);
}

/** Where a load is on the scale, 0 to 1. */
function part(load, most) {
  if (most <= 0) return 0;
  return Math.min(view.scale === "log" ? Math.log1p(load) / Math.log1p(most) : load / most, 1);
}

const UNIT = { keys: ["key", "keys"], ops: ["op", "ops"], accesses: ["access/min", "accesses/min"] };
const people = (metric, load) => {
  if (metric === "cpu") return `${(Number(load) / 1000).toFixed(1)} ms of CPU`;
  if (metric !== "bytes") return `${grouped(load)} ${UNIT[metric][Number(load) === 1 ? 0 : 1]}`;
  let value = Number(load);
  let unit = 0;
  for (; value >= 1023.995 && unit < UNITS.length - 1; unit += 1) value /= 1024;
  return unit === 0 ? `${load} B` : `${value.toFixed(2)} ${UNITS[unit]}`;
};

function drawMap() {
  const load = shown();
  const most = ceiling();
  const size = SIDE * CELL;
  plane.fillStyle = inkOf("--empty");
  plane.fillRect(0, 0, size, size);
  plane.imageSmoothingEnabled = false;
  plane.drawImage(cells(SIDE, SIDE, (slot) => (load[slot] === 0 ? null : part(load[slot], most))), 0, 0, size, size);
  if (find("borders").checked) drawBorders();
  drawLegend(find("ramp"));
  find("least").textContent = people(view.metric, view.scale === "log" ? 1 : 0);
  const isCut = most < data.stats[view.metric].max;
  find("most").textContent = `${people(view.metric, most)}${isCut ? " or more" : ""}`;
  find("scale-note").textContent = isCut ? "The scale ends where 99.9% of the slots hold no more, or at twice the mean; the fullest slots are labelled." : "";
}

/** Lines between slots of different owners: ink with an edge of the ground, to be seen on any colour. */
function drawBorders() {
  const lines = new Path2D();
  for (let slot = 0; slot < SLOTS; slot += 1) {
    const [x, y] = [(slot % SIDE) * CELL, Math.floor(slot / SIDE) * CELL];
    if (slot % SIDE !== SIDE - 1 && owners[slot] !== owners[slot + 1]) {
      lines.moveTo(x + CELL, y);
      lines.lineTo(x + CELL, y + CELL);
    }
    if (slot + SIDE < SLOTS && owners[slot] !== owners[slot + SIDE]) {
      lines.moveTo(x, y + CELL);
      lines.lineTo(x + CELL, y + CELL);
    }
  }
  for (const [width, name] of [[4, "--empty"], [2, "--ink"]]) {
    plane.lineWidth = width;
    plane.strokeStyle = inkOf(name);
    plane.stroke(lines);
  }
}

function drawCurve() {
  const load = shown();
  const stats = data.stats[view.metric];
  const most = ceiling();
  const y = (value) => (100 - 96 * part(Math.max(0, value), most)).toFixed(2);
  const bins = Array.from({ length: SLOTS / BIN }, (_, bin) => load.subarray(bin * BIN, (bin + 1) * BIN));
  const tops = bins.map((bin) => y(bin.reduce((a, b) => Math.max(a, b), 0)));
  const means = bins.map((bin) => y(bin.reduce((a, b) => a + b, 0) / BIN));
  const steps = (values) => values.map((value, bin) => `L${bin} ${value}H${bin + 1}`).join("");
  const parts = [["most", `M0 100${steps(tops)}V100Z`]];
  const cv = data.cv?.[view.metric];
  if (cv !== undefined) {
    // The mean of a bin of equal slots: its deviation is that of a slot over the root of their number.
    const wide = (3 * cv * stats.mean) / Math.sqrt(BIN);
    parts.push(["band", `M0 ${y(stats.mean - wide)}H512V${y(stats.mean + wide)}H0Z`]);
  }
  parts.push(["mean", `M0 ${means[0]}${steps(means)}`]);
  const edges = [...owners.keys()].filter((slot) => slot > 0 && owners[slot] !== owners[slot - 1]);
  if (find("borders").checked && edges.length < 100) parts.push(["border", edges.map((slot) => `M${slot / BIN} 0V100`).join("")]);
  find("curve").replaceChildren(...parts.map(([name, path]) => {
    const drawn = document.createElementNS("http://www.w3.org/2000/svg", "path");
    drawn.setAttribute("class", name);
    drawn.setAttribute("d", path);
    return drawn;
  }));
  const band = cv === undefined ? "" : "; shaded: random variation";
  const cut = most < stats.max ? "; cut at the top" : "";
  find("curve-note").textContent = `dark: mean of ${BIN} slots; light: their fullest${band}${cut}`;
  find("curve-most").textContent = people(view.metric, most);
}

function draw() {
  drawMap();
  drawCurve();
  label();
}
