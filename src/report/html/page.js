"use strict";
// What is only comfort: the slot map, the chart along the slots, sorting, filtering, the theme. Without it the page has
// all its words and tables. Names reach the page as text only, never as markup.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const make = (tag, text) => Object.assign(document.createElement(tag), { textContent: text ?? "" });
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const grouped = (n) => Math.round(n).toLocaleString("en-US");
  const bytes = (n) => {
    const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let unit = 0;
    for (; n >= 1024 && unit < units.length - 1; unit++) n /= 1024;
    return unit ? `${n.toFixed(2)} ${units[unit]}` : `${Math.round(n)} B`;
  };
  const shown = (metric, n) => (metric === "bytes" ? bytes(n) : n < 10 && n % 1 ? n.toFixed(2) : grouped(n));
  const SIDE = 128, SLOTS = SIDE * SIDE;

  // The theme: the system's until the button says otherwise; nothing is stored.
  const isDark = () => (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const theme = make("button");
  theme.type = "button";
  theme.id = "theme";
  const nameTheme = () => { theme.textContent = isDark() ? "light" : "dark"; theme.setAttribute("aria-label", `Switch to ${theme.textContent} colours`); };
  theme.addEventListener("click", () => { document.documentElement.dataset.theme = isDark() ? "light" : "dark"; nameTheme(); draw(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { nameTheme(); draw(); });
  document.querySelector("header").append(theme);
  nameTheme();

  // Tables.
  for (const table of document.querySelectorAll("table")) {
    const body = table.tBodies[0], rows = [...body.rows], limit = Number(table.dataset.shown);
    let all = rows.length <= limit, wanted = "";
    const tools = make("div"), count = make("span");
    tools.className = "tools";
    count.className = "note";
    count.setAttribute("aria-live", "polite");
    const show = () => {
      let found = 0, visible = 0;
      for (const row of body.rows) {
        const match = !wanted || row.textContent.toLowerCase().includes(wanted);
        found += match;
        row.hidden = !match || !(all || wanted || visible < limit);
        visible += !row.hidden;
      }
      count.textContent = wanted || !all ? `${grouped(visible)} of ${grouped(rows.length)} rows` : "";
    };
    if (rows.length > 8) {
      const filter = make("input");
      filter.type = "search";
      filter.placeholder = "filter";
      filter.setAttribute("aria-label", `Filter: ${table.closest("section").querySelector("h2").textContent}`);
      filter.addEventListener("input", () => { wanted = filter.value.toLowerCase(); show(); });
      tools.append(filter);
    }
    if (!all) {
      const more = make("button", `all ${grouped(rows.length)}`);
      more.type = "button";
      more.addEventListener("click", () => { all = true; more.remove(); show(); });
      tools.append(more);
    }
    tools.append(count);
    if (tools.childElementCount > 1) table.parentElement.before(tools);
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      if (!head.textContent || rows.length < 2) return;
      const button = make("button", head.textContent);
      button.type = "button";
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") !== "descending" && (head.classList.contains("n") || head.getAttribute("aria-sort") === "ascending");
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const key = (row) => row.cells[column].dataset.v ?? row.cells[column].textContent;
        const number = head.classList.contains("n");
        const order = (a, b) => (number ? Number(key(a)) - Number(key(b)) : key(a) < key(b) ? -1 : Number(key(a) > key(b)));
        body.append(...[...body.rows].sort((a, b) => (down ? order(b, a) : order(a, b))));
        show();
      });
    });
    show();
  }

  // The slot map.
  const metrics = ["keys", "bytes", "ops"].filter((metric) => data.slots[metric]);
  let metric = data.by, log = false, at = 0;
  const owner = new Int32Array(SLOTS).fill(-1);
  for (const [first, last, node] of data.owners) owner.fill(node, first, last + 1);
  const heat = (part) => {
    // Much is far from the ground's colour: dark on light, light on dark.
    if (isDark()) part = 1 - part;
    const place = Math.min(Math.max(part, 0), 1) * (data.ramp.length - 1), below = Math.min(Math.floor(place), data.ramp.length - 2);
    return [0, 1, 2].map((c) => Math.round(data.ramp[below][c] + (data.ramp[below + 1][c] - data.ramp[below][c]) * (place - below)));
  };
  const max = () => data.slots[metric].reduce((a, b) => Math.max(a, b), 0);
  const part = (load, most) => (most === 0 ? 0 : log ? Math.log1p(load) / Math.log1p(most) : load / most);

  function drawMap() {
    const canvas = $("map"), context = canvas.getContext("2d"), cell = canvas.width / SIDE, most = max();
    const ground = isDark() ? [20, 25, 30] : [255, 255, 255];
    data.slots[metric].forEach((load, slot) => {
      context.fillStyle = `rgb(${load === 0 ? ground : heat(part(load, most))})`;
      context.fillRect((slot % SIDE) * cell, Math.floor(slot / SIDE) * cell, cell, cell);
    });
    context.fillStyle = css("--ink");
    for (let slot = 0; slot < SLOTS; slot++) {
      const x = (slot % SIDE) * cell, y = Math.floor(slot / SIDE) * cell;
      if (slot % SIDE < SIDE - 1 && owner[slot] !== owner[slot + 1]) context.fillRect(x + cell - 1, y, 2, cell);
      if (slot + SIDE < SLOTS && owner[slot] !== owner[slot + SIDE]) context.fillRect(x, y + cell - 1, cell, 2);
    }
    context.strokeStyle = css("--focus");
    context.lineWidth = 3;
    context.strokeRect((at % SIDE) * cell - 2, Math.floor(at / SIDE) * cell - 2, cell + 4, cell + 4);
    const scale = $("scale"), strip = scale.getContext("2d");
    for (let x = 0; x < scale.width; x++) {
      strip.fillStyle = `rgb(${heat(x / (scale.width - 1))})`;
      strip.fillRect(x, 0, 1, scale.height);
    }
    const mean = data.mean[metric], band = data.band?.[metric];
    $("range").textContent = `${log ? "Log" : "Linear"} colours, from 0 (blank) to ${shown(metric, most)} ${metric}. The average slot holds ${shown(metric, mean)}` +
      (band ? `; a perfect hash would leave nearly all between ${shown(metric, band[0])} and ${shown(metric, band[1])}.` : ".");
  }

  function readOut() {
    const out = $("slot"), load = data.slots[metric][at], node = data.nodes[owner[at]];
    const lines = [make("b", `Slot ${grouped(at)}`), make("p", node === undefined ? "owned by no node" : `on ${node}`)];
    for (const each of metrics) lines.push(make("p", `${shown(each, data.slots[each][at])} ${each === "bytes" ? "" : each}`.trim()));
    const mean = data.mean[metric];
    if (mean > 0) lines.push(make("p", `${(load / mean).toFixed(2)} times the average slot`));
    const tags = data.tags[at];
    if (tags) {
      const list = make("ol");
      for (const [tag, keys] of tags) list.append(make("li", `{${tag}} ${grouped(keys)} keys`));
      lines.push(make("p", "Its heaviest tags:"), list);
    }
    out.replaceChildren(...lines);
  }

  function drawAlong() {
    const canvas = $("along"), context = canvas.getContext("2d"), most = max() || 1, loads = data.slots[metric];
    const left = 120, right = 16, top = 16, bottom = 48, width = canvas.width - left - right, height = canvas.height - top - bottom;
    const y = (load) => top + height * (1 - load / most);
    context.clearRect(0, 0, canvas.width, canvas.height);
    const band = data.band?.[metric];
    if (band) {
      context.fillStyle = css("--grid");
      context.fillRect(left, y(Math.min(band[1], most)), width, Math.max(y(band[0]) - y(Math.min(band[1], most)), 2));
    }
    // A column of the picture is many slots: from the least to the most of them.
    const columns = 740, step = width / columns;
    context.fillStyle = css("--load");
    for (let column = 0; column < columns; column++) {
      const from = Math.floor((column * SLOTS) / columns), to = Math.max(Math.floor(((column + 1) * SLOTS) / columns), from + 1);
      let low = Infinity, high = 0;
      for (let slot = from; slot < to; slot++) { low = Math.min(low, loads[slot]); high = Math.max(high, loads[slot]); }
      context.fillRect(left + column * step, y(high), step + 0.5, Math.max(y(low) - y(high), 2));
    }
    context.font = "22px system-ui, sans-serif";
    context.fillStyle = context.strokeStyle = css("--muted");
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const load of [0, most / 2, most]) context.fillText(shown(metric, load), left - 12, y(load));
    context.fillRect(left, y(data.mean[metric]), width, 2);
    context.textBaseline = "top";
    [0, 4096, 8192, 12288, 16383].forEach((slot, i) => {
      context.textAlign = ["left", "center", "center", "center", "right"][i];
      context.fillText(grouped(slot), left + (slot / (SLOTS - 1)) * width, canvas.height - bottom + 12);
    });
    $("band").textContent = `${metric} by slot, least to most of each 22 neighbours. The line is the average slot` + (band ? ", the shaded band what a perfect hash would give." : ".");
  }

  function draw() {
    drawMap();
    drawAlong();
    readOut();
  }
  const go = (slot) => {
    at = Math.min(Math.max(slot, 0), SLOTS - 1);
    drawMap();
    readOut();
  };
  for (const each of metrics) {
    const button = make("button", each);
    button.type = "button";
    button.addEventListener("click", () => { metric = each; press(); });
    $("metrics").append(button);
  }
  function press() {
    for (const button of $("metrics").children) button.setAttribute("aria-pressed", button.textContent === metric);
    $("linear").setAttribute("aria-pressed", !log);
    $("log").setAttribute("aria-pressed", log);
    draw();
  }
  $("linear").addEventListener("click", () => { log = false; press(); });
  $("log").addEventListener("click", () => { log = true; press(); });
  $("map").addEventListener("pointermove", (event) => {
    const box = event.target.getBoundingClientRect(), cell = box.width / SIDE;
    const column = Math.min(Math.floor((event.clientX - box.left) / cell), SIDE - 1), row = Math.min(Math.floor((event.clientY - box.top) / cell), SIDE - 1);
    go(Math.max(row, 0) * SIDE + Math.max(column, 0));
  });
  $("map").addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -SIDE, ArrowDown: SIDE, PageUp: -8 * SIDE, PageDown: 8 * SIDE, Home: -SLOTS, End: SLOTS }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    if (Math.abs(step) === SLOTS || (at + step >= 0 && at + step < SLOTS)) go(at + step);
  });
  document.querySelector(".map").hidden = false;
  at = data.slots[metric].indexOf(max());
  press();
})();
