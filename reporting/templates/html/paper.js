// The report on paper: every skill has its section and every task its row in the matrix; a task that is open is printed alone.

const MATRIX_ACROSS = 8; // skills whose names fit beside each other on a sheet

/** A table of the matrix for each handful of skills, with all tasks that its filters leave. */
function printMatrix() {
  if (!matrixAll.length) return () => {};
  const rows = matrixFiltered();
  const tables = [];
  for (let from = 0; from < report.skills.length; from += MATRIX_ACROSS) {
    const columns = report.skills.map((_, index) => index).slice(from, from + MATRIX_ACROSS);
    const table = element("table", { className: "matrix" }, element("thead"), element("tbody"));
    fillMatrix(table, rows, columns);
    const says = `Skills ${from + 1}–${from + columns.length} of ${report.skills.length}`;
    tables.push(...(report.skills.length > MATRIX_ACROSS ? [element("p", { className: "caption" }, says)] : []), table);
  }
  const place = element("div", { className: "printed" }, ...tables);
  const screen = byId("matrix-table").closest(".scroll");
  screen.classList.add("on-screen");
  screen.after(place);
  return () => {
    screen.classList.remove("on-screen");
    place.remove();
  };
}

/** A section for each skill, as it would be shown if it were chosen, under the present filters. What is on the screen stays. */
function printSkills() {
  const screen = byId("skill");
  const [skill, groups, chart] = [shownSkill, shownGroups, latencyChart];
  latencyChart = null;
  const made = report.skills.map((each) => printedSkill(screen, each));
  [shownSkill, shownGroups, latencyChart] = [skill, groups, chart];
  markRanked(skill);
  screen.classList.add("on-screen");
  return () => {
    screen.classList.remove("on-screen");
    for (const copy of made) copy.remove();
  };
}

/** While it is filled the copy stands before the section of the screen, so that the ids lead to it. */
function printedSkill(screen, skill) {
  const copy = screen.cloneNode(true);
  copy.querySelectorAll("tbody").forEach((body) => body.replaceChildren());
  screen.before(copy);
  shownSkill = null;
  showSkill(skill);
  followFilters();
  showTasks(Infinity);
  const line = filterLine(byId("filters"));
  if (line) byId("filters").after(line);
  pictured(byId("latency-chart"), latencyChart);
  latencyChart = null;
  copy.classList.add("printed");
  for (const each of [copy, ...copy.querySelectorAll("[id]")]) each.removeAttribute("id");
  return copy;
}

/** A chart as a picture: a canvas loses what is drawn on it when it is copied. */
function pictured(canvas, chart) {
  if (chart === null) return;
  fitToPaper(chart);
  canvas.replaceWith(element("img", { src: canvas.toDataURL(), alt: canvas.getAttribute("aria-label") ?? "", width: PAPER.width }));
  chart.destroy();
}

/** The task that is open, for a dialog is drawn once for each sheet, and cut where it ends. */
function printTask() {
  const copy = element("main", { className: "printed one-task" }, element("h2", {}, `${shownSkill.name}: ${byId("task-name").textContent}`));
  copy.append(...[...byId("task").children].slice(1).map((each) => each.cloneNode(true)));
  for (const each of copy.querySelectorAll("[id]")) each.removeAttribute("id");
  document.body.append(copy);
  document.body.classList.add("one-task");
  return () => {
    document.body.classList.remove("one-task");
    copy.remove();
  };
}

whenPrinted("copies", () => {
  if (!report.skills.length) return () => {};
  if (byId("task").open) return printTask();
  const undo = [printMatrix(), printSkills()];
  return () => undo.forEach((each) => each());
});
