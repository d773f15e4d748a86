// Permalinks: a slot, a part, a sorted or filtered table, a search; the address always has the last one that was made.

/** Puts what is shown into the address, without a step of the history for each letter. */
function keep(anchor, wanted = {}) {
  const query = new URLSearchParams(Object.entries(wanted).filter(([, value]) => value)).toString();
  try {
    history.replaceState(null, "", `#${anchor}${query ? `?${query}` : ""}`);
  } catch {
    // A browser may forbid it for files; the page works without.
  }
}

/** Shows what the address leads to. */
function follow() {
  const [anchor, query = ""] = location.hash.slice(1).split("?");
  const wanted = new URLSearchParams(query);
  if (anchor === "" && wanted.has("find") && find("search")) {
    searchFor(wanted.get("find"));
    return;
  }
  const slot = /^slot-(\d+)$/.exec(anchor);
  if (slot && find("map")) {
    point(Number(slot[1]));
    find("slots").scrollIntoView();
    return;
  }
  const target = find(decodeURIComponent(anchor));
  if (!target) return;
  if (wanted.size > 0) restore(target, wanted);
  const details = target.closest("details:not([open])");
  if (details) details.open = true;
  if (details || wanted.size > 0) target.scrollIntoView();
}

/** Sorts and filters a table as its address says. */
function restore(part, wanted) {
  const table = part.querySelector("table");
  const filter = part.querySelector("[data-filter]");
  if (!table) return;
  if (filter) filter.value = wanted.get("find") ?? "";
  const column = Number(wanted.get("sort"));
  if (wanted.has("sort") && column < table.tHead.rows[0].cells.length) sortBy(table, column, wanted.get("order"));
  show(part, table);
}

addEventListener("hashchange", follow);
follow();
