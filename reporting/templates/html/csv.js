// Rows as CSV, and the statement behind them.

/** Rows of values as CSV: null is empty, and a text that a spreadsheet would take for a formula has an apostrophe before it. */
function csvText(rows) {
  const quoted = (value) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  const number = /^-[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
  const safe = (value) => (/^[=+\-@\t\r\n]/.test(value) && !number.test(value) ? `'${value}` : value);
  const written = (value) => (value === null ? "" : typeof value === "string" ? quoted(safe(value)) : String(value));
  return rows.map((row) => row.map(written).join(",")).join("\r\n") + "\r\n";
}

function saveText(name, text) {
  const link = element("a", { href: URL.createObjectURL(new Blob([text], { type: "text/csv" })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function sqlDetails(sql, says) {
  return element("details", { className: "sql" }, element("summary", {}, "SQL"), element("p", { className: "note" }, says), element("pre", { tabIndex: 0 }, sql));
}
