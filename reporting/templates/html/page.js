// The page: what the address names is what is shown, so that every skill and task can be linked to.

const report = JSON.parse(byId("data").textContent);

/** Show what the address names: `#skill=…&task=…`; without a skill the best one. */
function route() {
  const place = new URLSearchParams(location.hash.slice(1));
  const [wanted, wantedTask] = [place.get("skill"), place.get("task")];
  const named = report.skills.find((skill) => skill.name === wanted) ?? report.skills.find((skill) => skill.name.startsWith(`${wanted}@`));
  const skill = named ?? shownSkill ?? report.skills[0];
  const moved = named !== undefined && named !== shownSkill;
  showSkill(skill);
  const group = wantedTask === null ? undefined : taskGroups(skill).find((each) => each.task.id === wantedTask);
  notice(wanted !== null && !named ? `This report has no skill “${wanted}”.` : wantedTask !== null && !group ? `${skill.name} has no task “${wantedTask}”.` : "");
  if (group) showTask(skill, group);
  else if (byId("task").open) byId("task").close();
  else if (moved) byId("skill").scrollIntoView();
}

function notice(text) {
  byId("notice").textContent = text;
  byId("notice").hidden = text === "";
}

/** Go to a neighbour, in the order the tasks are listed in, of the task that is shown. */
function stepTask(step) {
  const now = new URLSearchParams(location.hash.slice(1)).get("task");
  const index = shownGroups.findIndex((group) => group.task.id === now) + step;
  if (index >= 0 && index < shownGroups.length) location.replace(linkTo(shownSkill.name, shownGroups[index].task.id));
}

function startRanking() {
  const table = byId("ranking-table");
  for (const row of table.tBodies[0].rows) row.querySelector("a[data-open]").href = linkTo(row.dataset.skill);
  for (const bar of table.querySelectorAll(".interval")) {
    const rates = Object.fromEntries(Object.entries(bar.dataset).map(([name, value]) => [name, Number(value)]));
    drawInterval(bar, rates);
  }
  sortableRows(table);
  openingRows(table);
  const choice = byId("skill-choice");
  choice.append(...report.skills.map((skill) => element("option", { value: skill.name }, skill.name)));
  choice.addEventListener("change", () => (location.hash = linkTo(choice.value)));
}

startTheme(() => shownSkill && drawLatency(shownSkill.items));
if (report.skills.length) {
  startRanking();
  startSkill();
  startTask(stepTask, () => {
    if (new URLSearchParams(location.hash.slice(1)).has("task")) location.hash = linkTo(shownSkill.name);
  });
  addEventListener("hashchange", route);
  route();
}
performance.mark("interactive");
