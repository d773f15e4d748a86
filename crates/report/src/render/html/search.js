// One search over all that the page knows: its tables, and the tags and keys that are named for slots.
const search = find("search");

/** A part of the page and how many of its rows fit. */
function counted(part) {
  const table = part.querySelector("table");
  const section = part.closest("section");
  const rows = [...table.tBodies[0].rows];
  return { name: section.querySelector("h2")?.textContent ?? "", id: part.id, of: Number(table.dataset.of), rows: rows.length, found: rows.filter((row) => fits(row, wantedByAll)).length };
}

/** Slots by number, or by a tag or key that is named for them, a few. */
function slotsOf({ text, whole }) {
  if (/^\d+$/.test(text) && Number(text) < SLOTS) return [[Number(text), ""]];
  const named = Object.entries(data.fills).flatMap(([slot, names]) => names.map(([name]) => [Number(slot), name]));
  return named.filter(([, name]) => (whole ? name.toLowerCase() === text : name.toLowerCase().includes(text))).slice(0, 8);
}

function link(href, text, parent) {
  const made = element("a", "", parent);
  made.href = href;
  element("bdi", text, made);
  return made;
}

/** Says where the text was found, and of which tables the rest is elsewhere. */
function tell(wanted) {
  const box = find("found");
  box.replaceChildren();
  if (wanted.text === "") return;
  const parts = [...document.querySelectorAll("section:not(.card) .table")].map(counted);
  const hits = parts.filter((part) => part.found > 0);
  const slots = slotsOf(wanted);
  const list = element("ul", "", box);
  for (const part of hits) {
    const item = element("li", "", list);
    link(`#${part.id}`, part.name, item);
    element("span", `: ${grouped(part.found)} of ${grouped(part.rows)} rows`, item);
  }
  for (const [slot, name] of slots) {
    const item = element("li", "", list);
    link(`#slot-${slot}`, `slot ${slot}`, item);
    element("bdi", name ? ` ${name}` : "", item);
  }
  if (hits.length + slots.length === 0) element("p", "Nothing on this page has it.", box);
  if (parts.some((part) => part.of > part.rows)) element("p", "Long tables show their first rows only; the CSV files have more.", box).className = "note";
}

/** Searches; the address has it too. */
function searchFor(text) {
  search.value = text;
  wantedByAll = parsed(text);
  for (const part of document.querySelectorAll(".table")) show(part, part.querySelector("table"));
  tell(wantedByAll);
}

search.addEventListener("input", () => {
  searchFor(search.value);
  keep("", { find: search.value });
});
search.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    searchFor("");
    keep("");
  }
});
// The findings cover the page only while they are looked at.
addEventListener("click", (event) => {
  const bar = event.target.closest(".index");
  const isLink = event.target.closest("a");
  if (!bar || isLink) for (const open of document.querySelectorAll(".index details[open]")) open.open = false;
  if (event.target === search) tell(wantedByAll);
  else if (!bar || (isLink && isLink.closest("#found"))) find("found").replaceChildren();
});
