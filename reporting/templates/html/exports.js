// The tables of a report within the viewer: each can be saved as CSV, and has the statement that gives its figures.

/** Below each table that the page names (by its `data-export`, or its id): a button, and the statement, unless it is empty. */
function offerExports() {
  const statements = JSON.parse(byId("sql")?.textContent ?? "{}");
  for (const table of document.querySelectorAll("main table")) {
    const name = table.dataset.export ?? table.id;
    if (!Object.hasOwn(statements, name)) continue;
    const save = element("button", { type: "button", ariaLabel: `Save as CSV: ${name}` }, "CSV");
    save.addEventListener("click", () => saveText(`${name.replace(/-table$/, "")}.csv`, csvText(shownRows(table))));
    const place = table.closest(".scroll") ?? table;
    if (place.parentElement.className === "pair") {
      const one = element("div"); // of two that stand side by side, each keeps its own below it
      place.replaceWith(one);
      one.append(place);
    }
    const sql = statements[name] ? [sqlDetails(statements[name], "What the table is made of, for eval-skills query or any other DuckDB over the store:")] : [];
    place.after(element("div", { className: "exports" }, save, ...sql));
  }
}

/**
 * What a table shows: numbers as they were before they were rounded, where its cells know them; a dash is nothing. The ends of an
 * interval, and what stands below a number, have columns of their own; `data-csv="shown"` are heads of cells that know an order only.
 */
function shownRows(table) {
  const heads = [...(table.tHead?.rows[0].cells ?? [])];
  const rows = [...table.tBodies].flatMap((body) => [...body.rows]).map((row) => [...row.cells]);
  const parts = Array.from({ length: Math.max(0, heads.length, ...rows.map((cells) => cells.length)) }, (_, index) => partsOf(heads[index], rows.map((cells) => cells[index])));
  const titles = heads.length ? [heads.flatMap((head, index) => parts[index].map(([part]) => `${head.textContent.trim()}${part}`))] : [];
  return [...titles, ...rows.map((cells) => cells.flatMap((cell, index) => parts[index].map(([, value]) => value(cell))))];
}

/** The columns that one of a table is written as: what is added to its title, and the value of a cell. */
function partsOf(head, cells) {
  const has = (selector) => head?.dataset.sort === "number" && cells.some((cell) => cell?.querySelector(selector));
  const ends = ["lower", "upper"].map((end) => [`, ${end}`, (cell) => endOf(cell?.querySelector("[data-lower]"), end)]);
  const itself = ["", (cell) => (head?.dataset.csv === "shown" ? seen(cell) : exact(head, cell))];
  if (has(".difference[data-lower]")) return [itself, ...ends];
  if (has("[data-lower]")) return ends;
  return has(".detail") ? [itself, [", note", (cell) => seen(cell?.querySelector(".detail"))]] : [itself];
}

const endOf = (bar, end) => (bar ? Number(bar.dataset[end]) : null);

function exact(head, cell) {
  return cell?.dataset.value === undefined ? seen(cell) : head?.dataset.sort === "number" ? Number(cell.dataset.value) : cell.dataset.value;
}

/** The text of an element as it is seen: what stands apart is apart, unless it is folded away. */
function seen(place) {
  const text = (place?.innerText || place?.textContent || "").replace(/\s+/g, " ").trim();
  return text === UNKNOWN || text === "" ? null : text;
}
