// The page: a section per skill, and what the address names is what is shown: `#skill=…&task=…&flips.change=worse&flips.q=…`.

const report = JSON.parse(byId("data").textContent);
const sections = [...document.querySelectorAll(".skill")];

/** Show all flipped tasks that the filters leave. */
function showAll(sought) {
  const counts = sections.map((section, index) => showFlips(section, report.skills[index], sought?.skill === index ? sought.task : undefined));
  const [left, total] = [0, 1].map((side) => counts.reduce((sum, each) => sum + each[side], 0));
  byId("filter-count").textContent = `${left.toLocaleString("en")} of ${plural(total, "flipped task")}`;
}

const FILTERS = { "flips.change": "filter-change", "flips.verdict": "filter-verdict", "flips.q": "filter-search" };

/** The filters as the address has them; what it does not know is everything. */
function followFilters() {
  for (const [name, id] of Object.entries(FILTERS)) {
    byId(id).value = choiceOf(name);
    if (byId(id).selectedIndex === -1) byId(id).value = "";
  }
}

const keepFilters = () => keepChoices(Object.fromEntries(Object.entries(FILTERS).map(([name, id]) => [name, byId(id).value.trim()])));

function resetFilters() {
  byId("filters").reset();
  keepFilters();
}

function route() {
  const place = addressed();
  followFilters();
  const [wanted, task] = [place.get("skill"), place.get("task")];
  const exact = report.skills.findIndex((each) => each.name === wanted);
  const skill = exact >= 0 ? exact : report.skills.findIndex((each) => each.name.startsWith(`${wanted}@`));
  const known = skill >= 0 && (task === null || report.skills[skill].flips.some((flip) => flip.task === task));
  if (skill >= 0 && !isLeft(report.skills[skill])) resetFilters();
  if (known && task !== null && !flipsLeft(report.skills[skill]).some((flip) => flip.task === task)) resetFilters();
  showAll(known && task !== null ? { skill, task } : undefined);
  notice(wanted === null || known ? "" : skill < 0 ? `This comparison has no skill “${wanted}”.` : `${report.skills[skill].name} has no flipped task “${task}”.`);
  if (skill >= 0) (sections[skill].querySelector("tr.sought") ?? sections[skill]).scrollIntoView({ block: task === null ? "start" : "center" });
  if (skill >= 0) byId("skill-choice").value = report.skills[skill].name;
}

function notice(text) {
  byId("notice").textContent = text;
  byId("notice").hidden = text === "";
}

function startFilters() {
  const choice = byId("skill-choice");
  choice.append(...report.skills.map(({ name }) => element("option", { value: name }, name)));
  choice.addEventListener("change", () => (location.hash = carried(linkTo(choice.value))));
  const verdicts = [...new Set(report.skills.map(({ verdict }) => verdict))];
  byId("filter-verdict").append(...verdicts.map((verdict) => element("option", { value: verdict }, verdict)));
  const filters = byId("filters");
  filters.hidden = false;
  filters.addEventListener("input", (event) => {
    if (event.target === choice) return;
    keepFilters();
    showAll();
  });
  filters.addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.closest("input, select") || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    byId("filter-search").focus();
  });
}

startTheme(() => {});
drawDifferences();
if (report.skills.length) {
  for (const link of document.querySelectorAll("a[data-skill]")) link.href = linkTo(link.dataset.skill);
  sortableRows(byId("verdict-table"));
  openingRows(byId("verdict-table"));
  startFilters();
  carryChoices(() => {});
  addEventListener("hashchange", route);
  route();
}
offerExports();
performance.mark("interactive");
