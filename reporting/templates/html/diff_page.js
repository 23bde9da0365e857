// The page: a section per skill, and what the address names is what is shown: `#skill=…&task=…`.

const report = JSON.parse(byId("data").textContent);
const sections = [...document.querySelectorAll(".skill")];

/** Show all flipped tasks that the filters leave. */
function showAll(sought) {
  const counts = sections.map((section, index) => showFlips(section, report.skills[index], sought?.skill === index ? sought.task : undefined));
  const [left, total] = [0, 1].map((side) => counts.reduce((sum, each) => sum + each[side], 0));
  byId("filter-count").textContent = `${left.toLocaleString("en")} of ${plural(total, "flipped task")}`;
}

function route() {
  const place = new URLSearchParams(location.hash.slice(1));
  const [wanted, task] = [place.get("skill"), place.get("task")];
  const exact = report.skills.findIndex((each) => each.name === wanted);
  const skill = exact >= 0 ? exact : report.skills.findIndex((each) => each.name.startsWith(`${wanted}@`));
  const known = skill >= 0 && (task === null || report.skills[skill].flips.some((flip) => flip.task === task));
  if (known && task !== null && !flipsLeft(report.skills[skill]).some((flip) => flip.task === task)) byId("filters").reset();
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
  choice.addEventListener("change", () => (location.hash = linkTo(choice.value)));
  const filters = byId("filters");
  filters.hidden = false;
  filters.addEventListener("input", (event) => event.target !== choice && showAll());
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
  addEventListener("hashchange", route);
  route();
}
performance.mark("interactive");
