// Tables that sort by a click on a header: numbers start with the largest, texts with the first, unknown values come last.

const collator = new Intl.Collator("en", { numeric: true });

/**
 * Put a button into each header; `reorder(column, direction)` sorts by the column's index, direction 1 (up) or -1 (down).
 * What is returned does the same without a click; null is no column.
 */
function sortable(table, reorder) {
  const headers = [...table.tHead.rows[0].cells];
  const show = (column, direction) => {
    headers.forEach((each) => each.removeAttribute("aria-sort"));
    if (column !== null) headers[column].ariaSort = direction < 0 ? "descending" : "ascending";
    reorder(column, direction);
  };
  headers.forEach((header, column) => {
    if (!header.dataset.sort) return;
    const button = element("button", { type: "button", className: "sort" }, ...header.childNodes);
    header.append(button);
    button.addEventListener("click", () => {
      const first = header.dataset.sort === "number" ? "descending" : "ascending";
      const other = first === "ascending" ? "descending" : "ascending";
      const order = header.ariaSort === first ? other : first;
      show(column, order === "ascending" ? 1 : -1);
    });
  });
  return show;
}

/** Sort the rows that a table has, by the `data-value` of their cells. */
function sortableRows(table) {
  sortable(table, rowSorter(table));
}

/** What sorts the rows of a table; no column is the order that they are in now. */
function rowSorter(table) {
  const asMade = [...table.tBodies[0].rows];
  return (column, direction) => {
    if (column === null) return table.tBodies[0].append(...asMade);
    const numeric = table.tHead.rows[0].cells[column].dataset.sort === "number";
    const value = (row) => {
      const text = row.cells[column].dataset.value;
      return numeric && text !== undefined ? Number(text) : text;
    };
    table.tBodies[0].append(...[...table.tBodies[0].rows].sort((a, b) => compare(value(a), value(b), direction)));
  };
}

function compare(a, b, direction) {
  if (a === undefined || b === undefined) return (a === undefined) - (b === undefined);
  return direction * (typeof a === "number" ? a - b : collator.compare(a, b));
}
