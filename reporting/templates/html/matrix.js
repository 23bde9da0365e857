// Skills × tasks: how every skill did every task. At most a page of tasks and of skills is in the document at a time.

const MATRIX_TASKS = 50;
const MATRIX_SKILLS = 30;
const OUTCOME_LOOKS = {
  p: ["pass", "✓", "passed"],
  m: ["flaky-cell", "◐", "flaky"],
  f: ["fail", "✗", "failed"],
  e: ["error", "!", "error"],
  t: ["timeout", "◷", "timeout"],
};
const MATRIX_KINDS = { all: "passed by none", alone: "not passed by one alone", only: "passed by one alone" };
const isOpen = (code) => code !== "-" && code[0] !== "p";

let matrixAll = [];

/** The rows of the payload with their codes apart, and for those that one skill made special, which one that is. */
function matrixRead(rows) {
  return rows.map((row) => {
    const codes = row.codes.split(" ");
    const one = row.kind === "alone" ? codes.findIndex(isOpen) : row.kind === "only" ? codes.findIndex((code) => code !== "-" && !"fet".includes(code[0])) : -1;
    return { ...row, codes, one };
  });
}

/** What the two lists and the search leave. */
function matrixFiltered() {
  const [show, skill, words] = [byId("matrix-show").value, byId("matrix-skill").value, byId("matrix-search").value.trim().toLowerCase()];
  const index = skill === "" ? -1 : Number(skill);
  const shows = { "": () => true, open: (row) => row.codes.some(isOpen), pass: (row) => !row.codes.some(isOpen) };
  const wanted = shows[show] ?? ((row) => row.kind === show && (index < 0 || row.one < 0 || row.one === index));
  const of = (row) => index < 0 || (show in MATRIX_KINDS ? row.codes[index] !== "-" : isOpen(row.codes[index]) === (show !== "pass"));
  return matrixAll.filter((row) => wanted(row) && of(row) && row.task.toLowerCase().includes(words));
}

function showMatrix() {
  const rows = matrixFiltered();
  const page = pageNumber("matrix.page", rows.length, MATRIX_TASKS);
  const side = pageNumber("matrix.skills", report.skills.length, MATRIX_SKILLS);
  const [from, left] = [page * MATRIX_TASKS, side * MATRIX_SKILLS];
  const columns = report.skills.map((_, index) => index).slice(left, left + MATRIX_SKILLS);
  byId("matrix-count").textContent = `${rows.length.toLocaleString("en")} of ${plural(matrixAll.length, "task")}`;
  fillMatrix(byId("matrix-table"), rows.slice(from, from + MATRIX_TASKS), columns);
  drawPager(byId("matrix-pages"), "Tasks", "matrix.page", page, rows.length, MATRIX_TASKS, showMatrix);
  drawPager(byId("matrix-sides"), "Skills", "matrix.skills", side, report.skills.length, MATRIX_SKILLS, showMatrix);
}

/** Rows of tasks, columns of skills, by the index of the skill. */
function fillMatrix(table, rows, columns) {
  table.classList.toggle("narrow", columns.length > 6);
  const names = columns.map((index) => element("th", { scope: "col" }, element("span", {}, ...versionWhole(report.skills[index].name))));
  table.tHead.replaceChildren(element("tr", {}, element("th", { scope: "col", className: "stay" }, "Task"), ...names));
  table.tBodies[0].replaceChildren(...rows.map((row) => matrixRow(row, columns)));
  const first = table.querySelector("tbody a");
  if (first) first.tabIndex = 0;
}

/** A name that breaks before its version, and not within it if that fits. */
const versionWhole = (name) => name.split(/(?=@)/).flatMap((part, index) => (index ? [element("wbr"), part] : [part]));

function matrixRow(row, columns) {
  const asked = row.codes.findIndex((code) => code !== "-");
  const link = element("a", { href: row.page ?? linkTo(report.skills[asked].name, row.task), tabIndex: -1 }, row.task);
  const name = element("th", { scope: "row", className: "stay" }, link, ...(row.benchmark ? [" ", element("small", {}, row.benchmark)] : []), ...matrixTag(row));
  return element("tr", { className: row.kind ?? "" }, name, ...columns.map((index) => matrixCell(row, index)));
}

/** In words, what is special about a task. */
function matrixTag({ kind, one }) {
  if (!kind) return [];
  const says = kind === "all" ? "✗ passed by none" : kind === "alone" ? `◀ only ${report.skills[one].name} does not pass` : `▲ only ${report.skills[one].name} passes`;
  return [" ", element("small", { className: `detail special-${kind}` }, says)];
}

function matrixCell(row, index) {
  const code = row.codes[index];
  if (code === "-") return element("td", {}, element("span", { ariaHidden: "true" }, "·"), element("span", { className: "hidden-text" }, "not asked"));
  const [look, sign, says] = OUTCOME_LOOKS[code[0]];
  const [passed, runs] = code.includes("/") ? code.slice(1).split("/") : [code[0] === "p" ? code.slice(1) : "0", code.slice(1)];
  const count = runs === "1" ? "" : `${passed}/${runs}`;
  const unjudged = code[0] === "p" && passed !== runs ? `, ${runs - passed} without a verdict` : "";
  const { name } = report.skills[index];
  const href = row.page ? `${row.page}#${new URLSearchParams({ skill: name })}` : linkTo(name, row.task);
  const title = `${name} · ${row.task}: ${says}${count ? `, ${passed} of ${runs} runs passed${unjudged}` : ""}`;
  const shown = count ? `${sign} ${count}` : sign;
  return element("td", { className: look }, element("a", { href, title, ariaLabel: `${title}, ${shown}`, tabIndex: -1 }, shown));
}

/** The page (from 0) that the address asks for, as far as there is one. */
function pageNumber(name, count, size) {
  const asked = (Number.parseInt(choiceOf(name) || "1", 10) || 1) - 1;
  return Math.max(0, Math.min(asked, Math.ceil(count / size) - 1));
}

/** Which rows are shown, with a step to either side; nothing where all are. */
function drawPager(place, noun, name, page, count, size, show) {
  place.hidden = count <= size;
  const step = (label, to) => {
    const button = element("button", { type: "button", disabled: to < 0 || to * size >= count }, label);
    button.addEventListener("click", () => {
      keepChoices({ [name]: to ? String(to + 1) : "" });
      show();
      [...place.querySelectorAll("button")].find((each) => each.textContent === label && !each.disabled)?.focus();
    });
    return button;
  };
  const range = `${noun} ${(page * size + 1).toLocaleString("en")}–${Math.min(count, (page + 1) * size).toLocaleString("en")} of ${count.toLocaleString("en")}`;
  place.replaceChildren(step("← Earlier", page - 1), element("span", {}, range), step("Later →", page + 1));
}

/** The arrow keys go from cell to cell, Home and End to the ends of a row; Tab leaves the matrix. */
function startMatrixKeys(table) {
  table.addEventListener("keydown", (event) => {
    const at = event.target.closest("th, td");
    if (!at || event.ctrlKey || event.altKey || event.metaKey) return;
    const { cellIndex, parentElement: row } = at;
    const rows = [...table.tBodies[0].rows];
    const steps = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1], Home: [0, -cellIndex], End: [0, row.cells.length] };
    if (!(event.key in steps)) return;
    event.preventDefault();
    const [down, right] = steps[event.key];
    const goal = rows[Math.max(0, Math.min(rows.length - 1, rows.indexOf(row) + down))];
    const cells = [...goal.cells].slice(0, Math.min(goal.cells.length, cellIndex + right + 1));
    const link = right < 0 ? goal.cells[Math.max(0, cellIndex + right)].querySelector("a") : cells.findLast((cell) => cell.querySelector("a")).querySelector("a");
    if (!link) return;
    for (const each of table.querySelectorAll('a[tabindex="0"]')) each.tabIndex = -1;
    link.tabIndex = 0;
    link.focus();
  });
}

function followMatrix() {
  if (!matrixAll.length) return;
  byId("matrix-show").value = choiceOf("matrix.show");
  if (byId("matrix-show").selectedIndex < 0) byId("matrix-show").value = "";
  const skill = report.skills.findIndex(({ name }) => name === choiceOf("matrix.skill"));
  byId("matrix-skill").value = skill < 0 ? "" : String(skill);
  byId("matrix-search").value = choiceOf("matrix.q");
  showMatrix();
}

function startMatrix() {
  matrixAll = matrixRead(report.matrix);
  byId("matrix").hidden = matrixAll.length === 0;
  if (!matrixAll.length) return;
  const count = (kind) => matrixAll.filter((row) => row.kind === kind).length.toLocaleString("en");
  for (const [kind, says] of Object.entries(MATRIX_KINDS)) byId("matrix-show").append(element("option", { value: kind }, `${says} (${count(kind)})`));
  byId("matrix-skill").append(...report.skills.map(({ name }, index) => element("option", { value: String(index) }, name)));
  byId("matrix-filters").addEventListener("submit", (event) => event.preventDefault());
  byId("matrix-filters").addEventListener("input", () => {
    const skill = byId("matrix-skill").value;
    keepChoices({ "matrix.show": byId("matrix-show").value, "matrix.skill": skill === "" ? "" : report.skills[Number(skill)].name, "matrix.q": byId("matrix-search").value.trim(), "matrix.page": "" });
    showMatrix();
  });
  startMatrixKeys(byId("matrix-table"));
}
