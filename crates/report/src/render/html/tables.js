// Tables: a click on a head sorts, a filter hides rows, long ones are cut until all are asked for.

/** The text or number that a cell is sorted by. */
const sortValue = (cell) => ("v" in cell.dataset ? Number(cell.dataset.v) : cell.textContent);

function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a !== typeof b) return typeof a === "number" ? 1 : -1;
  return a < b ? -1 : a > b ? 1 : 0;
}

function sortBy(table, column) {
  const heads = [...table.tHead.rows[0].cells];
  const numeric = heads[column].classList.contains("n");
  const before = heads[column].getAttribute("aria-sort");
  const first = numeric ? "descending" : "ascending";
  const order = before === first ? (numeric ? "ascending" : "descending") : first;
  for (const head of heads) head.removeAttribute("aria-sort");
  heads[column].setAttribute("aria-sort", order);
  const sign = order === "ascending" ? 1 : -1;
  const rows = [...table.tBodies[0].rows].map((row) => [sortValue(row.cells[column]), row]);
  rows.sort(([a], [b]) => sign * compare(a, b));
  table.tBodies[0].append(...rows.map(([, row]) => row));
}

/** Shows the rows that hold `wanted`, and of those no more than `seen` unless all are asked for. */
function show(part, table) {
  const filter = part.querySelector("[data-filter]");
  const all = part.querySelector("[data-all]");
  const wanted = (filter?.value ?? "").toLowerCase();
  const limit = part.dataset.all === "yes" || wanted ? Infinity : Number(table.dataset.seen);
  const rows = [...table.tBodies[0].rows];
  let found = 0;
  for (const row of rows) {
    const fits = !wanted || row.textContent.toLowerCase().includes(wanted);
    if (fits) found += 1;
    row.hidden = !fits || found > limit;
  }
  if (filter) part.querySelector("[data-count]").textContent = wanted ? `${grouped(found)} of ${grouped(rows.length)} rows` : "";
  if (all) all.hidden = limit === Infinity || rows.length <= limit;
}

for (const part of document.querySelectorAll(".table")) {
  const table = part.querySelector("table");
  const rows = part.closest(".card") ? 0 : table.tBodies[0].rows.length;
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    if (rows < 2) return;
    const title = head.textContent;
    head.textContent = "";
    const button = element("button", title, head);
    button.type = "button";
    button.addEventListener("click", () => {
      sortBy(table, column);
      show(part, table);
    });
  });
  part.querySelector("[data-filter]")?.addEventListener("input", () => show(part, table));
  part.querySelector("[data-all]")?.addEventListener("click", () => {
    part.dataset.all = "yes";
    show(part, table);
    part.querySelector("[data-filter]").focus();
  });
  // Only what scrolls is worth a stop of the Tab key.
  const scroll = part.querySelector(".scroll");
  const stop = () => {
    if (scroll.scrollWidth > scroll.clientWidth) scroll.tabIndex = 0;
    else scroll.removeAttribute("tabindex");
  };
  new ResizeObserver(stop).observe(scroll);
  show(part, table);
}
