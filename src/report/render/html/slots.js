// The 16384 slots: a map of 128 rows, and their load along a line.
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
const exact = Object.fromEntries(metrics.map((metric) => [metric, data.slots[metric].split(" ").map(base36)]));
const loads = Object.fromEntries(metrics.map((metric) => [metric, Float64Array.from(exact[metric], Number)]));
const owners = new Int32Array(SLOTS);
data.owners.split(" ").reduce((from, run) => {
  const [length, node] = run.split(":");
  const to = from + parseInt(length, 36);
  owners.fill(node === "-" ? -1 : parseInt(node, 36), from, to);
  return to;
}, 0);

const view = { metric: data.by, scale: "linear", slot: null, hot: -1 };
/** The scale of the PNG charts, light to dark. */
const ramp = getComputedStyle(document.documentElement).getPropertyValue("--ramp").trim().split(" ")
  .map((hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
const plane = find("map").getContext("2d");
const colourOf = (name) => {
  const probe = element("span", "", document.body);
  probe.style.color = `var(${name})`;
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
};

/** The colour of a part from 0 to 1: more load stands out more, so the scale runs the other way on black. */
function colour(part) {
  const place = (isDark() ? 1 - part : part) * (ramp.length - 1);
  const below = Math.min(Math.floor(place), ramp.length - 2);
  const mixed = [0, 1, 2].map((i) => Math.round(ramp[below][i] + (ramp[below + 1][i] - ramp[below][i]) * (place - below)));
  return `rgb(${mixed})`;
}

/** Where a load is on the scale, 0 to 1. */
function part(load, most) {
  if (most <= 0) return 0;
  return view.scale === "log" ? Math.log1p(load) / Math.log1p(most) : load / most;
}

const people = (metric, load) => {
  if (metric !== "bytes") return `${grouped(load)} ${metric}`;
  let value = Number(load);
  let unit = 0;
  for (; value >= 1023.995 && unit < UNITS.length - 1; unit += 1) value /= 1024;
  return unit === 0 ? `${load} B` : `${value.toFixed(2)} ${UNITS[unit]}`;
};

function drawMap() {
  const load = loads[view.metric];
  const most = data.stats[view.metric].max;
  const size = SIDE * CELL;
  plane.fillStyle = colourOf("--empty");
  plane.fillRect(0, 0, size, size);
  for (let slot = 0; slot < SLOTS; slot += 1) {
    if (load[slot] === 0) continue;
    plane.fillStyle = colour(part(load[slot], most));
    plane.fillRect((slot % SIDE) * CELL, Math.floor(slot / SIDE) * CELL, CELL, CELL);
  }
  if (find("borders").checked) drawBorders();
  const legend = find("ramp").getContext("2d");
  for (let x = 0; x < 256; x += 1) {
    legend.fillStyle = colour(x / 255);
    legend.fillRect(x, 0, 1, 1);
  }
  find("least").textContent = people(view.metric, view.scale === "log" ? 1 : 0);
  find("most").textContent = people(view.metric, most);
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
    plane.strokeStyle = colourOf(name);
    plane.stroke(lines);
  }
}

function drawCurve() {
  const load = loads[view.metric];
  const stats = data.stats[view.metric];
  const most = stats.max;
  const y = (value) => (100 - 96 * part(Math.max(0, value), most)).toFixed(2);
  const bins = Array.from({ length: SLOTS / BIN }, (_, bin) => load.subarray(bin * BIN, (bin + 1) * BIN));
  const tops = bins.map((bin) => y(bin.reduce((a, b) => Math.max(a, b), 0)));
  const means = bins.map((bin) => y(bin.reduce((a, b) => a + b, 0) / BIN));
  const steps = (values) => values.map((value, bin) => `L${bin} ${value}H${bin + 1}`).join("");
  const parts = [["most", `M0 100${steps(tops)}V100Z`]];
  const cv = data.expected?.[view.metric]?.cv;
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
  const band = cv === undefined ? "" : ", shaded: where a perfect hash would keep the line (mean ± 3 sigma)";
  find("curve-note").textContent = `dark line: mean of ${BIN} slots; light: the fullest of them${band}; ${view.scale === "log" ? "logarithmic" : "linear"}`;
  find("curve-most").textContent = people(view.metric, most);
}

function draw() {
  drawMap();
  drawCurve();
}

/** Moves the cursor to a slot and says what is there. */
function point(slot) {
  view.slot = Math.max(0, Math.min(SLOTS - 1, slot));
  const cursor = find("cursor");
  cursor.style.display = "block";
  cursor.style.left = `${((view.slot % SIDE) * 100) / SIDE}%`;
  cursor.style.top = `${(Math.floor(view.slot / SIDE) * 100) / SIDE}%`;
  if (document.activeElement !== find("slot")) find("slot").value = view.slot;
  const under = find("under");
  under.replaceChildren();
  element("h3", `Slot ${view.slot}`, under);
  const list = element("dl", "", under);
  const say = (name, text, exactly) => {
    element("dt", name, list);
    const value = element("dd", "", list);
    element("bdi", text, value);
    if (exactly !== undefined) value.dataset.v = exactly;
    return value;
  };
  const owner = owners[view.slot];
  say("node", owner < 0 ? "no node owns it" : data.nodes[owner]);
  for (const metric of metrics) {
    const load = exact[metric][view.slot];
    const value = say(metric, people(metric, load), load);
    if (metric === "bytes") value.title = `${grouped(load)} bytes`;
  }
  const mean = data.stats[view.metric].mean;
  if (mean > 0) say("× mean", (loads[view.metric][view.slot] / mean).toFixed(2));
  const tags = data.tags[view.slot];
  if (tags) {
    element("dt", "tags", list);
    const value = element("dd", "", list);
    for (const [tag, keys] of tags) {
      const line = element("div", "", value);
      element("bdi", tag, line);
      element("span", `${grouped(keys)} ${keys === 1 ? "key" : "keys"}`, line);
    }
  }
}

function slotAt(event) {
  const box = find("map").getBoundingClientRect();
  const cell = (place, length) => Math.max(0, Math.min(SIDE - 1, Math.floor((place * SIDE) / length)));
  return cell(event.clientY - box.top, box.height) * SIDE + cell(event.clientX - box.left, box.width);
}

const KEYS = {
  ArrowLeft: (slot) => slot - 1,
  ArrowRight: (slot) => slot + 1,
  ArrowUp: (slot) => (slot < SIDE ? slot : slot - SIDE),
  ArrowDown: (slot) => (slot + SIDE >= SLOTS ? slot : slot + SIDE),
  Home: (slot) => slot - (slot % SIDE),
  End: (slot) => slot - (slot % SIDE) + SIDE - 1,
  PageUp: (slot) => (slot % SIDE) + Math.max(0, Math.floor(slot / SIDE) - 16) * SIDE,
  PageDown: (slot) => (slot % SIDE) + Math.min(SIDE - 1, Math.floor(slot / SIDE) + 16) * SIDE,
};

function listen() {
  const map = find("map");
  for (const kind of ["pointermove", "pointerdown"]) map.addEventListener(kind, (event) => point(slotAt(event)));
  map.addEventListener("keydown", (event) => {
    const move = KEYS[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    point(move(view.slot ?? 0));
  });
  find("slot").addEventListener("input", (event) => {
    if (event.target.value !== "" && event.target.checkValidity()) point(Number(event.target.value));
  });
  find("hottest").addEventListener("click", () => {
    if (data.hottest.length === 0) return;
    view.hot = (view.hot + 1) % data.hottest.length;
    point(data.hottest[view.hot]);
  });
  for (const name of ["metric", "scale"]) {
    for (const choice of document.getElementsByName(name)) {
      choice.checked = choice.value === view[name];
      choice.addEventListener("change", () => {
        view[name] = choice.value;
        draw();
        if (view.slot !== null) point(view.slot);
      });
    }
  }
  find("borders").addEventListener("change", draw);
}

// One heavy slot would leave all others in one colour on a linear scale.
const usual = data.stats[view.metric];
if (usual.max > 8 * Math.max(usual.p99, 1)) view.scale = "log";
onTheme.push(draw);
listen();
themeChanged();
if (data.hottest.length > 0) {
  view.hot = 0;
  point(data.hottest[0]);
}
