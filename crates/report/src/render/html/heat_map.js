// Heat by time and slot: a canvas that zooms, with a cursor that says what is under it.
function heatMap() {
  const canvas = find("heat");
  if (!canvas) return;
  const heat = JSON.parse(find("heat-data").textContent);
  const unpacked = (text) => text.split(" ").flatMap((run) => {
    const [count, number] = run.includes("*") ? run.split("*") : [1, run];
    return Array(Number(count)).fill(parseInt(number, 36));
  });
  const rows = heat.rows.map(unpacked);
  for (const named of heat.names) named.ops = unpacked(named.ops);
  const size = { x: heat.columns, y: rows.length };
  /** What is seen: from here, so many cells; and the cursor. */
  const seen = { x: 0, y: 0, w: size.x, h: size.y };
  const cursor = { x: 0, y: 0, burst: -1 };
  const ops = rows.flat().filter((count) => count > 0).sort((a, b) => a - b);
  const middle = ops[Math.floor(ops.length / 2)] ?? 1;
  // One burst does not turn all else pale.
  const top = Math.max(heat.least, Math.min(16 * middle, Math.max(2 * middle, ops[Math.floor(ops.length * 0.999)] ?? 1)));
  const clock = (secs) => new Date(Math.min(secs, 253402300799) * 1000).toISOString().replace("T", " ").slice(0, 19);
  const digits = (number) => Number(number.toPrecision(3)).toLocaleString("en");
  const traffic = (bytes) => {
    const units = ["B", "KiB", "MiB", "GiB", "TiB"];
    const power = units.findLastIndex((unit, i) => i === 0 || bytes >= 1024 ** i);
    return `${digits(bytes / 1024 ** power)} ${units[power]}/s`;
  };
  const rates = { ops: (rate) => `${digits(rate)} ops/s`, cpu: (rate) => `${digits(rate / 1e4)}% of a core`, network: traffic };
  const rate = (count) => rates[heat.heat](count / heat.secs);
  const clamp = (value, most) => Math.max(0, Math.min(most, value));

  const px = (x) => ((x - seen.x) / seen.w) * canvas.width;
  const py = (y) => ((y - seen.y) / seen.h) * canvas.height;
  const column = (secs) => (secs - heat.from) / heat.secs;

  function draw() {
    const plane = canvas.getContext("2d");
    plane.fillStyle = inkOf("--empty");
    plane.fillRect(0, 0, canvas.width, canvas.height);
    plane.imageSmoothingEnabled = false;
    const part = (cell) => rows[Math.floor(cell / size.x)][cell % size.x] / top || null;
    plane.drawImage(cells(size.x, size.y, part), seen.x, seen.y, seen.w, seen.h, 0, 0, canvas.width, canvas.height);
    plane.lineWidth = 1;
    plane.strokeStyle = inkOf("--ink");
    for (const [first] of heat.owners.length < 100 ? heat.owners : []) {
      const y = py(first / heat.slots);
      if (first > 0) plane.strokeRect(-1, y, canvas.width + 2, 0);
    }
    plane.lineWidth = 2;
    for (const burst of heat.bursts) {
      const [x, y] = [px(column(burst.from)), py(Math.floor(burst.slot / heat.slots))];
      const height = canvas.height / seen.h;
      plane.strokeRect(x - 3, y - 3, px(column(burst.to)) - x + 6, height + 6);
    }
    drawLegend(find("heat-ramp"));
    find("heat-most").textContent = `${rate(top)} and more, on ${heat.slots} slots`;
    const at = (x) => heat.from + Math.round(x) * heat.secs;
    find("heat-from").textContent = clock(at(seen.x));
    find("heat-to").textContent = `${clock(at(seen.x + seen.w))} UTC`;
    const last = Math.ceil(seen.y + seen.h) * heat.slots - 1;
    find("heat-range").textContent = `slots ${Math.floor(seen.y) * heat.slots} to ${last}`;
    place();
  }

  /** Puts the frame of the cursor where its cell is. */
  function place() {
    const mark = find("heat-cursor");
    const part = (cells, of) => `${(cells / of) * 100}%`;
    // Its middle: the frame may be larger than the cell.
    mark.style.left = part(cursor.x + 0.5 - seen.x, seen.w);
    mark.style.top = part(cursor.y + 0.5 - seen.y, seen.h);
    mark.style.width = `max(8px, ${part(1, seen.w)})`;
    mark.style.height = `max(8px, ${part(1, seen.h)})`;
  }

  /** Moves the cursor and names what it is on. */
  function point(x, y) {
    cursor.x = clamp(Math.floor(x), size.x - 1);
    cursor.y = clamp(Math.floor(y), size.y - 1);
    find("heat-cursor").style.display = "block";
    place();
    const [first, last] = [cursor.y * heat.slots, cursor.y * heat.slots + heat.slots - 1];
    const from = heat.from + cursor.x * heat.secs;
    const under = find("heat-under");
    under.replaceChildren();
    const say = (text) => element("bdi", text, element("p", "", under));
    const owners = heat.owners.filter((owner) => owner[0] <= last && owner[1] >= first).map((owner) => owner[2]);
    const nodes = [...new Set(owners)].join(", ");
    element("strong", `Slots ${first} to ${last}, ${clock(from)} UTC: ${rate(rows[cursor.y][cursor.x])}`, element("p", "", under));
    if (nodes) say(`Node ${nodes}`);
    const here = (slot) => slot >= first && slot <= last;
    const names = heat.names.filter((named) => here(named.slot) && named.ops[cursor.x] > 0);
    names.sort((a, b) => b.ops[cursor.x] - a.ops[cursor.x]);
    if (names.length > 0) say(`Heaviest hash tags: ${names.slice(0, 3).map((named) => `${named.name} (${rate(named.ops[cursor.x])})`).join(", ")}`);
    for (const burst of heat.bursts) {
      if (here(burst.slot) && burst.from < from + heat.secs && burst.to > from) say(`Burst: ${burst.words}`);
    }
  }

  /** Zooms by a factor, so that the cell at these parts of the canvas stays where it is. */
  function zoom(factor, partX, partY) {
    const [x, y] = [seen.x + partX * seen.w, seen.y + partY * seen.h];
    seen.w = Math.max(Math.min(10, size.x), Math.min(size.x, seen.w / factor));
    seen.h = Math.max(Math.min(8, size.y), Math.min(size.y, seen.h / factor));
    seen.x = clamp(x - partX * seen.w, size.x - seen.w);
    seen.y = clamp(y - partY * seen.h, size.y - seen.h);
    draw();
  }

  /** Moves what is seen so that the cursor is in it. */
  function follow() {
    seen.x = clamp(Math.min(Math.max(seen.x, cursor.x + 1 - seen.w), cursor.x), size.x - seen.w);
    seen.y = clamp(Math.min(Math.max(seen.y, cursor.y + 1 - seen.h), cursor.y), size.y - seen.h);
    draw();
  }

  const atCursor = (factor) => zoom(factor, (cursor.x + 0.5 - seen.x) / seen.w, (cursor.y + 0.5 - seen.y) / seen.h);
  const all = () => zoom(1e-9, 0.5, 0.5);
  function nextBurst() {
    if (heat.bursts.length === 0) return;
    cursor.burst = (cursor.burst + 1) % heat.bursts.length;
    const burst = heat.bursts[cursor.burst];
    point(column(burst.from), burst.slot / heat.slots);
    follow();
  }
  const move = (x, y) => () => {
    point(cursor.x + x, cursor.y + y);
    follow();
  };
  const keys = {
    ArrowLeft: move(-1, 0), ArrowRight: move(1, 0), ArrowUp: move(0, -1), ArrowDown: move(0, 1),
    "+": () => atCursor(2), "=": () => atCursor(2), "-": () => atCursor(0.5), 0: all, b: nextBurst,
  };
  const parts = (event) => {
    const box = canvas.getBoundingClientRect();
    return [clamp((event.clientX - box.left) / box.width, 1), clamp((event.clientY - box.top) / box.height, 1)];
  };
  for (const kind of ["pointermove", "pointerdown"]) {
    canvas.addEventListener(kind, (event) => {
      const [x, y] = parts(event);
      point(seen.x + x * seen.w, seen.y + y * seen.h);
    });
  }
  canvas.addEventListener("focus", () => point(cursor.x, cursor.y));
  canvas.addEventListener("wheel", (event) => {
    const [factor, [x, y]] = [event.deltaY < 0 ? 1.25 : 0.8, parts(event)];
    // Where all is seen, the wheel scrolls the page.
    if (factor < 1 && seen.w >= size.x && seen.h >= size.y) return;
    event.preventDefault();
    zoom(factor, x, y);
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const act = keys[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
  const buttons = { "heat-in": () => atCursor(2), "heat-out": () => atCursor(0.5), "heat-all": all, "heat-burst": nextBurst };
  for (const [id, act] of Object.entries(buttons)) find(id).addEventListener("click", act);
  find("heat-burst").hidden = heat.bursts.length === 0;
  whenNear(canvas, () => {
    draw();
    onTheme.push(draw);
    nextBurst();
  });
}
heatMap();
