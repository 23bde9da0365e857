// One skill: its figures, its charts, and its tasks under the present filters.

let shownSkill = null;
let shownGroups = [];
let gridOrder = { column: null, direction: 1 };
let gridSort;

function showSkill(skill) {
  if (skill === shownSkill) return;
  shownSkill = skill;
  byId("skill").hidden = false;
  byId("skill-name").textContent = skill.name;
  byId("skill-choice").value = skill.name;
  byId("figures").replaceChildren(...skill.figures.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, unbroken(value)))));
  markRanked(skill);
  showGroups("by-tag", "tag-table", skill.tags);
  showGroups("by-complexity", "complexity-table", skill.complexity);
  showJudges(skill.judging ?? { heads: [], rows: [], notes: [] });
  showErrors(skill.errors);
  drawLatency(skill.items);
}

/** Mark the row of the skill in the ranking. */
function markRanked(skill) {
  for (const row of byId("ranking-table").tBodies[0].rows) row.toggleAttribute("aria-current", row.dataset.skill === skill.name);
}

/** Filter and sort the tasks of the skill as the address says; what is shown already is left as it is. */
function followTasks() {
  const asked = [shownSkill.name, ...[...Object.keys(FILTERS), "tasks.sort"].map(choiceOf)].join("\n");
  if (asked === followTasks.shown) return;
  followTasks.shown = asked;
  followFilters();
  gridSort.follow();
  showTasks();
}

/** The ends of an interval, where it is known, as its bar has them. */
const endsOf = ({ lower, upper }) => (lower === undefined ? {} : { "data-lower": lower, "data-upper": upper });

function showGroups(section, table, groups) {
  byId(section).hidden = groups.length === 0;
  byId(table).tBodies[0].replaceChildren(
    ...groups.map((group) => {
      const bar = { at: group.completion, lower: group.lower ?? group.completion, upper: group.upper ?? group.completion };
      const bars = group.completion === undefined ? [] : [drawInterval(element("span", { className: "interval", ...endsOf(group) }), bar)];
      return element(
        "tr",
        {},
        cell(group.tag, "", group.tag),
        cell(group.tasks, "number wide", group.tasks.toLocaleString("en")),
        cell(group.completion, "number", group.shown),
        cell(group.lower, "", ...bars, element("small", {}, group.interval ?? UNKNOWN)),
        cell(group.errors, "number wide", group.errorsShown),
      );
    }),
  );
}

function showJudges({ heads, rows, notes }) {
  byId("judges").hidden = rows.length === 0;
  const table = byId("judge-table");
  const look = (column) => (column === 0 ? "stay" : heads[column][1] === "number" ? "number" : "names");
  table.tHead.rows[0].replaceChildren(...heads.map(([title], column) => element("th", { className: look(column) }, title)));
  table.tBodies[0].replaceChildren(...rows.map((cells) => element("tr", {}, ...cells.map((text, column) => element("td", { className: look(column) }, text)))));
  byId("judge-notes").replaceChildren(...notes.map((note) => element("li", {}, unbroken(note))));
}

function showErrors(errors) {
  byId("errors").hidden = errors.length === 0;
  byId("error-table").tBodies[0].replaceChildren(
    ...errors.map((error) => {
      const message = error.message === undefined ? UNKNOWN : report.texts[error.message][0];
      const group = report.failures.find(({ key }) => key === `error:${error.kind}`);
      return element("tr", {}, cell(error.kind, "", group ? groupLink(group, shownSkill) : error.kind), cell(error.items, "number", error.items.toLocaleString("en")), cell(message, "reason", message));
    }),
  );
}

/** The tasks that the filters leave, in the order the grid is sorted by; at first so many of them, or a page. */
function showTasks(first) {
  const all = taskGroups(shownSkill);
  shownGroups = filtered(all);
  const { column, direction } = gridOrder;
  if (column !== null) shownGroups.sort((a, b) => compare(GRID_ORDER[column](a), GRID_ORDER[column](b), direction));
  const failures = failureRows(shownGroups);
  byId("filter-count").textContent = `${shownGroups.length.toLocaleString("en")} of ${plural(all.length, "task")}`;
  byId("failures").hidden = failures.length === 0;
  showPaged(byId("grid-table").tBodies[0], byId("grid-more"), shownGroups, GRID_PAGE, (group) => gridRow(shownSkill, group), first);
  showPaged(byId("failure-table").tBodies[0], byId("failures-more"), failures, FAILURE_PAGE, (row) => failureRow(shownSkill, row), first);
  markReasons(shownSkill, byId("filter-why").value);
}

function startSkill() {
  for (const id of ["tag-table", "complexity-table", "error-table"]) sortableRows(byId(id));
  gridSort = sortableByAddress(byId("grid-table"), "tasks", (column, direction) => {
    gridOrder = { column, direction };
    showTasks();
  });
  for (const id of ["grid-table", "failure-table"]) openingRows(byId(id));
  byId("filters").addEventListener("input", () => {
    keepFilters();
    showTasks();
  });
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.closest("input, select, dialog") || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    byId("filter-search").focus();
  });
}
