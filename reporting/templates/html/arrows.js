// Rows that open something: the arrow keys go from row to row, Enter or a click opens.

/** Each row of the table holds one link marked `data-open`; a click anywhere in the row follows it. */
function openingRows(table) {
  table.addEventListener("keydown", (event) => {
    const link = event.target.closest("a[data-open]");
    const links = [...table.querySelectorAll("a[data-open]")];
    const steps = { ArrowDown: 1, ArrowUp: -1, Home: -links.length, End: links.length };
    if (!link || !(event.key in steps)) return;
    event.preventDefault();
    const wanted = links.indexOf(link) + steps[event.key];
    links[Math.max(0, Math.min(links.length - 1, wanted))].focus();
  });
  table.addEventListener("click", (event) => {
    if (event.target.closest("a, button, input") || !getSelection().isCollapsed) return;
    event.target.closest("tbody tr")?.querySelector("a[data-open]")?.click();
  });
}

/** The address of a skill, of one of its tasks, or of a run of it, within this page. */
function linkTo(skill, task, run) {
  const part = (name, value) => `${name}=${encodeURIComponent(value).replaceAll("%40", "@")}`;
  const parts = [["skill", skill], ["task", task], ["run", run]].filter(([, value]) => value !== undefined);
  return `#${parts.map(([name, value]) => part(name, value)).join("&")}`;
}
