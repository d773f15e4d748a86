// What is in a slot: the panel beside the map, the fullest slots as a list and as labels on the map, and what moves there.

/** Slots that are listed, and those that have a label on the map. */
const LISTED = 8;
const PEAKS = 5;
/** How many cells around a finger it may mean. */
const FINGER = 2;

/** The tags and keys of a slot that are known, heaviest first: name, load by the metric that is shown. */
function fills(slot) {
  const at = metrics.indexOf(view.metric);
  const known = (data.fills[slot] ?? []).map(([name, packed]) => [name, packed.split(" ")[at]]);
  const weighed = known.filter(([, load]) => load !== "-" && load !== "0").map(([name, load]) => [name, base36(load)]);
  return weighed.sort(([, a], [, b]) => Number(b) - Number(a));
}

const titleOf = (metric) => document.querySelector(`#metric input[value="${metric}"]`)?.parentElement.textContent.trim();

/** What follows the metric: the heading, the fullest slots, their list. */
function choose() {
  const load = shown();
  const least = load.slice().sort()[SLOTS - FULLEST];
  const slots = [...load.keys()].filter((slot) => load[slot] > 0 && load[slot] >= least);
  view.fullest = slots.sort((a, b) => load[b] - load[a] || a - b).slice(0, FULLEST);
  view.hot = -1;
  const title = titleOf(view.metric);
  if (title) find("slots-head").textContent = `Slots by ${title}`;
  find("fullest-head").hidden = view.fullest.length === 0;
  find("fullest").replaceChildren(...view.fullest.slice(0, LISTED).map(listed));
}

/** A slot of the list: a button that goes there. */
function listed(slot, place) {
  const item = document.createElement("li");
  const button = element("button", "", item);
  button.type = "button";
  element("b", slot, button);
  element("span", people(view.metric, exactly(view.metric, slot)), button);
  element("bdi", fills(slot)[0]?.[0] ?? "", button);
  button.addEventListener("click", () => {
    view.hot = place;
    go(slot);
  });
  return item;
}

/** Names the slots that the scale is too short for; a label that would cover another one is left out. */
function label() {
  const most = ceiling();
  const placed = [];
  for (const slot of view.fullest) {
    if (placed.length === PEAKS || shown()[slot] <= most) break;
    const [x, y] = [slot % SIDE, Math.floor(slot / SIDE)];
    if (placed.some(([, , other]) => Math.abs(other - y) < 8)) continue;
    placed.push([slot, x, y]);
  }
  find("peaks").replaceChildren(...placed.map(([slot, x, y]) => {
    const peak = document.createElement("span");
    peak.className = x > SIDE / 2 ? "peak west" : "peak";
    peak.style.left = `${((x + 0.5) * 100) / SIDE}%`;
    peak.style.top = `${((y + 0.5) * 100) / SIDE}%`;
    const words = element("span", "", peak);
    element("b", slot, words);
    const name = fills(slot)[0]?.[0];
    if (name) element("bdi", name, words);
    return peak;
  }));
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
  };
  const owner = owners[view.slot];
  if (owner < 0) say("node", "no node owns it");
  else {
    element("dt", "node", list);
    link(all(data.nodes[owner]), data.nodes[owner], element("dd", "", list));
  }
  for (const metric of metrics) {
    const load = exactly(metric, view.slot);
    say(metric, people(metric, load), load);
  }
  const mean = data.stats[view.metric].mean;
  if (mean > 0) say("times the mean", `${(shown()[view.slot] / mean).toFixed(2)} × in ${view.metric}`);
  const within = fills(view.slot);
  if (within.length > 0) {
    element("dt", "filled by", list);
    const value = element("dd", "", list);
    for (const [name, load] of within) {
      const line = element("div", "", value);
      link(all(name), name, line);
      element("span", people(view.metric, load), line);
    }
  }
}

/** Moves the cursor there, and makes the slot the address of the page. */
function go(slot) {
  point(slot);
  keep(`slot-${view.slot}`);
}

function slotAt(event) {
  const box = find("map").getBoundingClientRect();
  const cell = (place, length) => Math.max(0, Math.min(SIDE - 1, Math.floor((place * SIDE) / length)));
  const [x, y] = [cell(event.clientX - box.left, box.width), cell(event.clientY - box.top, box.height)];
  if (event.pointerType !== "touch") return y * SIDE + x;
  // A finger is wider than a cell: it means the fullest slot below it.
  let found = y * SIDE + x;
  for (let row = Math.max(0, y - FINGER); row <= Math.min(SIDE - 1, y + FINGER); row += 1) {
    for (let column = Math.max(0, x - FINGER); column <= Math.min(SIDE - 1, x + FINGER); column += 1) {
      const slot = row * SIDE + column;
      if (shown()[slot] > shown()[found]) found = slot;
    }
  }
  return found;
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
  map.addEventListener("pointermove", (event) => point(slotAt(event)));
  map.addEventListener("pointerdown", (event) => go(slotAt(event)));
  map.addEventListener("keydown", (event) => {
    const move = KEYS[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    go(move(view.slot ?? 0));
  });
  find("slot").addEventListener("input", (event) => {
    if (event.target.value !== "" && event.target.checkValidity()) go(Number(event.target.value));
  });
  find("hottest").addEventListener("click", () => {
    next();
    keep(`slot-${view.slot}`);
  });
  for (const name of ["metric", "scale"]) {
    for (const choice of document.getElementsByName(name)) {
      choice.checked = choice.value === view[name];
      choice.addEventListener("change", () => {
        view[name] = choice.value;
        if (name === "metric") choose();
        draw();
        if (name === "metric") next();
      });
    }
  }
  find("borders").addEventListener("change", draw);
}

/** Goes to the next of the fullest slots. */
function next() {
  if (view.fullest.length === 0) return;
  view.hot = (view.hot + 1) % view.fullest.length;
  point(view.fullest[view.hot]);
}

listen();
whenNear(find("slots"), () => {
  choose();
  draw();
  onTheme.push(draw);
  // An address may have named one.
  if (view.slot === null) next();
});
