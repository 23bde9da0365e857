// A table of the viewer: sorted, filtered and paged by TanStack Table, drawn here, since no text of a store may become markup.
// What the reader chose stands in the address, after the table's name: #runs.q=adder&runs.sort=-Cost

const NAMES_SHOWN = 6; // of one cell; the others are folded
const NAMES_CHARS = 300; // of one cell: of names as long as sentences fewer are shown, and at least the first
const PAGE_ROWS = 100;

const signed = (value, digits) => {
  const isWhole = Math.abs(Math.abs(value) - 100) < 1e-6; // all but for binary fractions
  const size = enoughDigits(Math.abs(value), digits, (text) => (Number(text) !== 0 || value === 0) && (Number(text) !== 100 || isWhole));
  return `${Number(size) === 0 ? "" : value > 0 ? "+" : "−"}${size}`; // what is shown as 0 has no sign
};
/** As `p_value` in reporting/numbers.py. */
const pValue = (value) => {
  if (value >= 1e-4) return String(Number(fixed(value, 2 - Math.floor(Math.log10(value)))));
  return value < 1e-300 ? "< 1e-300" : Number(value.toPrecision(3)).toExponential().replace(/-(\d)$/, "-0$1");
};
const moment = (value) => new Date(value).toISOString().slice(0, 16).replace("T", " ");

/** How a known value of a kind is written. */
const WRITTEN = {
  text: (value) => value,
  names: (value) => value.join(", "),
  count: (value) => value.toLocaleString("en"),
  part: ([value, whole]) => `${value.toLocaleString("en")}${whole === null || whole === value ? "" : ` of ${whole.toLocaleString("en")}`}`,
  rate: percent,
  points: (value) => `${signed(value * 100, 1)} pp`,
  score: (value) => fixed(value, 4),
  p: pValue,
  ms: milliseconds,
  usd: dollars,
  sum: ([value, unknown]) => `${unknown ? "≥ " : ""}${dollars(value)}`,
  moment,
  interval: ([value]) => percent(value),
  state: (value) => value,
  verdict: (value) => value,
  sign: (value) => (value ? "✔" : "✘"),
};
const NUMBERS = new Set(["count", "part", "rate", "points", "score", "p", "ms", "usd", "sum", "interval", "moment"]);
const LOOKS = { pass: "pass", passed: "pass", better: "pass", improved: "pass", recovered: "pass", fail: "fail", failed: "fail", regression: "fail", regressed: "fail", worse: "fail", gone: "fail", called: "fail", error: "error", suspect: "error", unknown: "error", flaky: "error", unfinished: "error", "stopped: cost limit": "error", "stopped: token limit": "error", "stopped: time limit": "error", timeout: "timeout" };

const LONG_TEXT = 30; // characters; its column is not made as narrow as its longest syllable
const PARAGRAPH = 120; // characters; its column is as wide as one may be, so that a row is not as high as the window

const known = (value) => value !== null && value !== undefined && !(Array.isArray(value) && (value.length === 0 || value[0] === null));

/** What a cell sorts by; undefined is unknown, and comes last in either direction. */
function sortValue(kind, value) {
  if (!known(value)) return undefined;
  return ["interval", "part", "sum"].includes(kind) ? value[0] : kind === "names" ? value.join(", ") : value;
}

/** Draw the table at `place`, and again whenever the reader changes something; `chosen(rows)` is told what is selected. */
function dataTable(place, spec, chosen = () => {}) {
  const rows = spec.rows.map((values, index) => ({ values, links: spec.links[index], index }));
  const columns = spec.columns.map((column, index) => ({
    id: column.title,
    accessorFn: (row) => sortValue(column.kind, row.values[index]),
    sortingFn: NUMBERS.has(column.kind) ? "basic" : (a, b, id) => collator.compare(a.getValue(id), b.getValue(id)),
    sortUndefined: "last",
    sortDescFirst: NUMBERS.has(column.kind),
    filterFn: (row, _, wanted) => [row.original.values[index]].flat().some((value) => String(value) === wanted),
  }));
  const given = addressed(spec);
  let state = { ...given, rowSelection: {} };
  const wording = (row) => (row.wording ??= row.values.map((value, index) => (known(value) ? WRITTEN[spec.columns[index].kind](value) : "")).join("\n").toLowerCase());
  const table = TableCore.createTable({
    data: rows,
    columns,
    state: {},
    onStateChange: () => {},
    renderFallbackValue: null,
    getRowId: (row) => String(row.index),
    enableMultiSort: false,
    globalFilterFn: (row, _, words) => words.toLowerCase().split(/\s+/).every((word) => wording(row.original).includes(word)),
    getColumnCanGlobalFilter: () => true,
    getCoreRowModel: TableCore.getCoreRowModel(),
    getFilteredRowModel: TableCore.getFilteredRowModel(),
    getSortedRowModel: TableCore.getSortedRowModel(),
    getPaginationRowModel: TableCore.getPaginationRowModel(),
    autoResetPageIndex: false,
  });
  const change = (update) => {
    state = typeof update === "function" ? update(state) : { ...state, ...update };
    table.setOptions((options) => ({ ...options, state, onStateChange: change }));
    remember(spec, state);
    draw();
  };
  table.setOptions((options) => ({ ...options, state: { ...table.initialState, ...state }, onStateChange: change }));
  state = { ...table.initialState, ...state };

  const parts = frame(place, spec, rows, state, change, () => csvOf(spec, table.getSortedRowModel().rows));
  const draw = () => {
    const shown = table.getRowModel().rows;
    const count = table.getFilteredRowModel().rows.length;
    parts.count.textContent = count === rows.length ? plural(rows.length, "row") : `${count.toLocaleString("en")} of ${plural(rows.length, "row")}`;
    drawHead(parts.head, spec, state.sorting[0], (id) => table.getColumn(id).toggleSorting());
    parts.body.replaceChildren(...shown.map((row) => drawRow(spec, row, state.rowSelection, () => row.toggleSelected())));
    drawPages(parts.pages, table);
    chosen(table.getSelectedRowModel().rows.map((row) => row.original), parts.actions);
  };
  draw();
  openingRows(parts.table);
  // another address of this page was opened in its tab; what is chosen here is written without this event
  addEventListener("hashchange", () => location.hash.includes(`${spec.name}.`) && location.reload());
  whenPrinted("rows", () => {
    const put = (pagination) => {
      state = { ...state, pagination };
      table.setOptions((options) => ({ ...options, state }));
      draw();
    };
    const { pagination } = state;
    put({ pageIndex: 0, pageSize: Math.max(PAGE_ROWS, rows.length) });
    return () => put(pagination);
  });
  return { table, search: parts.search };
}

/** The state that the address asks for, as far as the table knows it. */
function addressed(spec) {
  const asked = new URLSearchParams(location.hash.slice(1));
  const get = (name) => asked.get(`${spec.name}.${name}`) ?? "";
  const sort = get("sort") || spec.sort || "";
  const id = sort.replace(/^-/, "");
  const facets = spec.columns.filter((column) => column.facet && get(column.title) !== "");
  return {
    globalFilter: get("q"),
    columnFilters: facets.map((column) => ({ id: column.title, value: get(column.title) })),
    sorting: spec.columns.some((column) => column.title === id) ? [{ id, desc: sort.startsWith("-") }] : [],
    pagination: { pageIndex: Math.max(0, Number.parseInt(get("page") || "1", 10) - 1) || 0, pageSize: PAGE_ROWS },
  };
}

/** Write the state into the address, without a step in the history; what other tables wrote stays. */
function remember(spec, state) {
  const asked = new URLSearchParams(location.hash.slice(1));
  for (const name of [...asked.keys()]) if (name.startsWith(`${spec.name}.`)) asked.delete(name);
  const set = (name, value) => value && asked.set(`${spec.name}.${name}`, value);
  set("q", state.globalFilter);
  for (const { id, value } of state.columnFilters) set(id, value);
  const [sort] = state.sorting;
  set("sort", sort && `${sort.desc ? "-" : ""}${sort.id}`);
  set("page", state.pagination.pageIndex > 0 ? String(state.pagination.pageIndex + 1) : "");
  history.replaceState(null, "", asked.size ? `#${asked}` : location.pathname + location.search);
}

/** Search, lists to narrow it, what can be taken along, and the empty table. */
function frame(place, spec, rows, state, change, csv) {
  const first = { pagination: { pageIndex: 0, pageSize: PAGE_ROWS } };
  const search = element("input", { type: "search", value: state.globalFilter, placeholder: "search …  ( / )", autocomplete: "off", spellcheck: false });
  search.addEventListener("input", () => change({ globalFilter: search.value, ...first }));
  const facets = spec.columns.flatMap((column, index) => (column.facet ? [facet(column, index, rows, state, (filters) => change({ columnFilters: filters(), ...first }))].filter((each) => each.narrows) : []));
  const count = element("output", { "aria-live": "polite" });
  const actions = element("span", { className: "actions" });
  const save = element("button", { type: "button" }, "CSV");
  save.title = "Save the rows that the filters leave as CSV";
  save.addEventListener("click", () => saveText(`${spec.name}.csv`, csv()));
  const bar = element("form", { className: "filters", role: "search", ariaLabel: `Filter: ${spec.title}` }, ...facets.map((each) => each.label), element("label", { className: "grow" }, "Search ", search), count, actions, save);
  bar.addEventListener("submit", (event) => event.preventDefault());
  const [head, body] = [element("thead"), element("tbody")];
  const table = element("table", { className: "rows" }, head, body);
  const pages = element("p", { className: "pages" });
  const sql = sqlDetails(spec.sql, "eval-skills query, or any other DuckDB over the store, gives the same rows:");
  const note = spec.note ? [element("p", { className: "note" }, spec.note)] : [];
  const scroll = element("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: spec.title }, table);
  place.replaceChildren(bar, scroll, pages, ...note, sql);
  return { search, count, actions, head, body, table, pages };
}

/** A list with the values of a column; one whose every choice shows all rows `narrows` nothing. */
function facet(column, index, rows, state, changed) {
  const now = state.columnFilters.find((filter) => filter.id === column.title);
  const asked = now ? [now.value] : []; // in no row, as in a link of long ago: what hides the rows can be seen, and taken back
  const values = [...new Set([...asked, ...rows.flatMap((row) => [row.values[index]].flat()).filter(known).map(String)])].sort(collator.compare);
  const select = element("select", {}, element("option", { value: "" }, "any"), ...values.map((value) => element("option", { value }, value)));
  select.value = now?.value ?? "";
  select.dataset.column = column.title;
  select.addEventListener("change", () =>
    changed(() => [...select.closest("form").querySelectorAll("select[data-column]")].filter((each) => each.value !== "").map((each) => ({ id: each.dataset.column, value: each.value }))),
  );
  const isEverywhere = rows.every((row) => known(row.values[index]));
  return { label: element("label", {}, `${column.title} `, select), narrows: now !== undefined || values.length > (isEverywhere ? 1 : 0) };
}

function drawHead(head, spec, sort, toggle) {
  const cells = spec.columns.filter((column) => !column.hidden).map((column) => {
    const button = element("button", { type: "button", className: "sort" }, column.title);
    button.addEventListener("click", () => {
      toggle(column.title);
      [...head.querySelectorAll("button")].find((each) => each.textContent === column.title)?.focus();
    });
    const made = element("th", { scope: "col", className: `${NUMBERS.has(column.kind) && column.kind !== "interval" ? "number" : ""} ${column.wide ? "wide" : ""}` }, button);
    if (sort?.id === column.title) made.ariaSort = sort.desc ? "descending" : "ascending";
    return made;
  });
  if (spec.selects) cells.unshift(element("th", { scope: "col" }, element("span", { className: "hidden-text" }, "Select")));
  head.replaceChildren(element("tr", {}, ...cells));
}

function drawRow(spec, row, selection, toggle) {
  const { values, links } = row.original;
  const cells = spec.columns.flatMap((column, index) => (column.hidden ? [] : [drawCell(column, values[index], links[index])]));
  if (spec.selects) {
    const box = element("input", { type: "checkbox", checked: Boolean(selection[row.id]), ariaLabel: `Select ${values[0]}` });
    box.addEventListener("change", () => {
      toggle();
      document.querySelector(`input[aria-label="${CSS.escape(`Select ${values[0]}`)}"]`)?.focus();
    });
    cells.unshift(element("td", {}, box));
  }
  const opened = cells.find((each) => each.querySelector("a"))?.querySelector("a");
  opened?.setAttribute("data-open", "");
  return element("tr", {}, ...cells);
}

/** How many names of a cell are shown: to fold a single short one would save nothing. */
function namesShown(names) {
  let chars = 0;
  const fitting = names.findIndex((name, index) => index > 0 && (chars += names[index - 1].length) + name.length > NAMES_CHARS);
  const most = names.length <= NAMES_SHOWN + 1 ? names.length : NAMES_SHOWN;
  return fitting === -1 ? most : Math.min(fitting, most);
}

function drawCell(column, value, link) {
  const className = `${NUMBERS.has(column.kind) && column.kind !== "interval" ? "number" : ""} ${column.wide ? "wide" : ""}`;
  if (!known(value)) return element("td", { className: `${className} unknown` }, UNKNOWN);
  const linked = (text, to) => (to ? element("a", { href: to }, text) : text);
  if (column.kind === "names") {
    const foldable = (name) => element("span", {}, ...name.split(/(?<=[_@/])/).flatMap((part) => [part, element("wbr")]));
    const parts = value.map((name, index) => [...(index ? [", "] : []), linked(foldable(name), link?.[index])]);
    const shown = namesShown(value);
    if (shown === value.length) return element("td", { className: `${className} names` }, ...parts.flat());
    const rest = element("details", {}, element("summary", {}, `${(value.length - shown).toLocaleString("en")} more`), ...parts.slice(shown).flat().slice(1));
    return element("td", { className: `${className} names` }, ...parts.slice(0, shown).flat(), rest);
  }
  if (column.kind === "sum" && value[1]) {
    const unknown = `unknown of ${value[1].toLocaleString("en")} of ${plural(value[2], "item")}`;
    return element("td", { className }, WRITTEN.sum(value), element("small", { className: "detail wraps" }, unknown));
  }
  if (column.kind === "interval") {
    const [at, lower, upper, missing] = value;
    const bar = lower === null || upper === null ? [] : [drawInterval(element("span", { className: "interval" }), { at, lower, upper })];
    const said = lower === null ? [] : [element("small", {}, `${percentFigure(lower)} to ${percent(upper)}`)];
    const without = missing ? [element("small", { className: "detail wraps" }, `${plural(missing, "item")} without a verdict`)] : [];
    return element("td", { className }, element("strong", {}, percent(at)), ...bar, ...said, ...without);
  }
  const written = WRITTEN[column.kind](value);
  if (column.kind === "state" || column.kind === "verdict") return element("td", { className }, element("span", { className: `tag ${LOOKS[value] ?? "label"}` }, written));
  return element("td", { className: `${className}${column.kind === "text" ? " words" : ""}${written.length > LONG_TEXT ? " long" : ""}${written.length > PARAGRAPH ? " paragraph" : ""}` }, linked(written, link));
}

function drawPages(place, table) {
  const { pageIndex } = table.getState().pagination;
  const count = Math.max(1, table.getPageCount());
  if (pageIndex >= count) return table.setPageIndex(count - 1);
  const step = (text, to, able) => {
    const button = element("button", { type: "button", disabled: !able }, text);
    button.addEventListener("click", () => table.setPageIndex(to));
    return button;
  };
  place.hidden = count === 1;
  place.replaceChildren(step("← Previous", pageIndex - 1, pageIndex > 0), ` page ${pageIndex + 1} of ${count.toLocaleString("en")} `, step("Next →", pageIndex + 1, pageIndex < count - 1));
}

/** The rows as CSV. */
function csvOf(spec, rows) {
  const more = { interval: ["lower", "upper"], part: ["of"], sum: ["unknown items"] };
  const heads = spec.columns.flatMap((column) => [column.title, ...(more[column.kind] ?? []).map((part) => `${column.title}, ${part}`)]);
  const cells = (column, value) => {
    if (column.kind === "interval") return value?.slice(0, 3) ?? [null, null, null];
    if (column.kind === "sum" || column.kind === "part") return value.slice(0, 2);
    if (!known(value)) return [null];
    if (column.kind === "moment") return [new Date(value).toISOString()];
    return [typeof value === "number" || typeof value === "boolean" ? value : [value].flat().join(", ")];
  };
  return csvText([heads, ...rows.map((row) => spec.columns.flatMap((column, index) => cells(column, row.original.values[index])))]);
}
