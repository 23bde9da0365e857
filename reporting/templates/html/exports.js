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

/** What a table shows: numbers as they were before they were rounded, where its cells know them; a dash is nothing. */
function shownRows(table) {
  const heads = [...(table.tHead?.rows[0].cells ?? [])];
  const value = (cell, index) => {
    const text = cell.textContent.replace(/\s+/g, " ").trim();
    if (cell.dataset.value === undefined) return text === UNKNOWN || text === "" ? null : text;
    return heads[index]?.dataset.sort === "number" ? Number(cell.dataset.value) : cell.dataset.value;
  };
  const rows = [...table.tBodies].flatMap((body) => [...body.rows]);
  const titles = heads.length ? [heads.map((head) => head.textContent.trim())] : [];
  return [...titles, ...rows.map((row) => [...row.cells].map(value))];
}
