// Tables: a click on a head sorts, a filter hides rows, long ones are cut until all are asked for.

/** The text or number that a cell is sorted by. */
const sortValue = (cell) => ("v" in cell.dataset ? Number(cell.dataset.v) : cell.textContent);

function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a !== typeof b) return typeof a === "number" ? 1 : -1;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The text that all tables are searched for, by the search of the page. */
let wantedByAll = { text: "", whole: false };

/** A search: in quotes it is a whole cell. */
function parsed(value) {
  const text = value.trim().toLowerCase();
  const whole = text.length > 2 && text.startsWith('"') && text.endsWith('"');
  return { text: whole ? text.slice(1, -1) : text, whole };
}

function fits(row, { text, whole }) {
  if (text === "") return true;
  if (whole) return [...row.cells].some((cell) => cell.textContent.trim().toLowerCase() === text);
  return row.textContent.toLowerCase().includes(text);
}

/** Where the cells of a column lead: to the slot on the map, to all that the page knows of a node or a tag. */
const all = (text) => `#?${new URLSearchParams({ find: `"${text}"` })}`;
const LEADS = { slot: (text) => `#slot-${text}`, node: all, tag: all };

/** Makes links of the cells that lead somewhere, once the row is seen. */
function lead(heads, row) {
  if (row.dataset.led) return;
  row.dataset.led = "yes";
  heads.forEach((name, column) => {
    const cell = row.cells[column];
    const text = cell.textContent.trim();
    if (!LEADS[name] || text === "" || text === "–") return;
    const made = document.createElement("a");
    made.href = LEADS[name](text);
    made.append(...cell.childNodes);
    cell.append(made);
  });
}

/** The rows that are not hidden, exact numbers where there are some. */
function taken(table) {
  const rows = [...table.tBodies[0].rows].filter((row) => !row.hidden);
  const exactly = (cell) => cell.dataset.v ?? [...cell.querySelectorAll(".named")].map((of) => of.textContent).join(", ") ?? "";
  return [[...table.tHead.rows[0].cells].map((head) => head.textContent), ...rows.map((row) => [...row.cells].map((cell) => exactly(cell) || cell.textContent.replace("–", "").trim()))];
}

function asCsv(lines) {
  // A spreadsheet takes these for formulas.
  const safe = (text) => (/^[=+\-@]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text);
  const field = (text) => (/[",;\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return lines.map((line) => line.map((text) => field(safe(text))).join(",")).join("\n");
}

function asMarkdown(lines) {
  const cell = (text) => text.replaceAll("|", "\\|");
  const code = (text) => (text === "" || !Number.isNaN(Number(text)) ? text : `\`${cell(text).replaceAll("`", "'")}\``);
  const [heads, ...rows] = lines;
  return [heads.map(cell), heads.map(() => "---"), ...rows.map((row) => row.map(code))].map((line) => `| ${line.join(" | ")} |`).join("\n");
}

/** Buttons that take a table away: as a file, and to the clipboard. */
function takeAway(part, table) {
  const box = element("div", "", part);
  box.className = "take";
  const make = (name, act) => {
    const button = element("button", name, box);
    button.type = "button";
    button.addEventListener("click", () => act(button));
  };
  make("CSV", () => {
    const file = document.createElement("a");
    file.href = URL.createObjectURL(new Blob([asCsv(taken(table)), "\n"], { type: "text/csv" }));
    file.download = `${part.id.replace(/-table(-\d+)?$/, "$1")}.csv`;
    file.click();
    URL.revokeObjectURL(file.href);
  });
  make("Copy as Markdown", async (button) => {
    try {
      await navigator.clipboard.writeText(asMarkdown(taken(table)));
      button.textContent = "Copied";
    } catch {
      button.textContent = "This browser does not let a file copy";
    }
  });
}

function sortBy(table, column, wanted = null) {
  const heads = [...table.tHead.rows[0].cells];
  const numeric = heads[column].classList.contains("n");
  const before = heads[column].getAttribute("aria-sort");
  const first = numeric ? "descending" : "ascending";
  const order = wanted ?? (before === first ? (numeric ? "ascending" : "descending") : first);
  for (const head of heads) head.removeAttribute("aria-sort");
  heads[column].setAttribute("aria-sort", order);
  const sign = order === "ascending" ? 1 : -1;
  const rows = [...table.tBodies[0].rows].map((row) => [sortValue(row.cells[column]), row]);
  rows.sort(([a], [b]) => sign * compare(a, b));
  table.tBodies[0].append(...rows.map(([, row]) => row));
}

/** Puts how a table is sorted and filtered into the address. */
function keepTable(part, table) {
  const heads = [...table.tHead.rows[0].cells];
  const column = heads.findIndex((head) => head.hasAttribute("aria-sort"));
  const sorted = column < 0 ? {} : { sort: String(column), order: heads[column].getAttribute("aria-sort") };
  keep(part.id, { ...sorted, find: part.querySelector("[data-filter]")?.value });
}

/** Shows the rows that hold `wanted`, and of those no more than `seen` unless all are asked for. */
function show(part, table) {
  const filter = part.querySelector("[data-filter]");
  const all = part.querySelector("[data-all]");
  const own = parsed(filter?.value ?? "");
  const searched = part.closest(".card") ? { text: "" } : wantedByAll;
  const wanted = own.text + searched.text;
  const limit = part.dataset.all === "yes" || wanted ? Infinity : Number(table.dataset.seen);
  const rows = [...table.tBodies[0].rows];
  const heads = [...table.tHead.rows[0].cells].map((head) => head.textContent);
  let found = 0;
  for (const row of rows) {
    const fit = fits(row, own) && fits(row, searched);
    if (fit) found += 1;
    row.hidden = !fit || found > limit;
    if (!row.hidden && find("search")) lead(heads, row);
  }
  if (filter) part.querySelector("[data-count]").textContent = own.text && found > 0 ? `${grouped(found)} of ${grouped(rows.length)} rows` : "";
  const none = part.querySelector("[data-none]");
  if (none) none.textContent = found === 0 && wanted ? "No row." : "";
  if (all) all.hidden = limit === Infinity || rows.length <= limit;
}

/** Only what scrolls is worth a stop of the Tab key. All are measured before one is changed: the page is laid out once. */
const stops = new ResizeObserver((seen) => {
  const measured = seen.map(({ target }) => [target, target.scrollWidth > target.clientWidth]);
  for (const [scroll, scrolls] of measured) {
    if (scrolls) scroll.tabIndex = 0;
    else scroll.removeAttribute("tabindex");
  }
});

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
      keepTable(part, table);
    });
  });
  part.querySelector("[data-filter]")?.addEventListener("input", () => {
    show(part, table);
    keepTable(part, table);
  });
  if (rows > 1) {
    const none = element("p", "", part);
    none.className = "note";
    none.dataset.none = "";
    takeAway(part, table);
  }
  part.querySelector("[data-all]")?.addEventListener("click", () => {
    part.dataset.all = "yes";
    show(part, table);
    part.querySelector("[data-filter]").focus();
  });
  stops.observe(part.querySelector(".scroll"));
  show(part, table);
}
