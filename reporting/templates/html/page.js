// The page: what the address names is what is shown, so that every skill and task can be linked to.

const report = JSON.parse(byId("data").textContent);
let rankingSort;
let goal; // where the link that is followed leads within the page of a skill

/** Show what the address names: `#skill=…&task=…&run=…`; without a skill the best one. */
function route() {
  const place = addressed();
  const [wanted, wantedTask] = [place.get("skill"), place.get("task")];
  const named = report.skills.find((skill) => skill.name === wanted) ?? report.skills.find((skill) => skill.name.startsWith(`${wanted}@`));
  const skill = named ?? shownSkill ?? report.skills[0];
  const moved = named !== undefined && named !== shownSkill;
  showSkill(skill);
  rankingSort.follow();
  followTasks();
  followMatrix();
  followPlaces();
  const group = wantedTask === null ? undefined : taskGroups(skill).find((each) => each.task.id === wantedTask);
  notice(wanted !== null && !named ? `This report has no skill “${wanted}”.` : wantedTask !== null && !group ? `${skill.name} has no task “${wantedTask}”.` : "");
  if (group) showTask(skill, group, place.get("run"));
  else if (byId("task").open) byId("task").close();
  else if (goal || moved) byId(goal ?? "skill").scrollIntoView();
  goal = undefined;
}

function notice(text) {
  byId("notice").textContent = text;
  byId("notice").hidden = text === "";
}

/** Go to a neighbour, in the order the tasks are listed in, of the task that is shown. */
function stepTask(step) {
  const now = addressed().get("task");
  const index = shownGroups.findIndex((group) => group.task.id === now) + step;
  if (index >= 0 && index < shownGroups.length) location.replace(carried(linkTo(shownSkill.name, shownGroups[index].task.id)));
}

function startRanking() {
  const table = byId("ranking-table");
  for (const row of document.querySelectorAll("tr[data-skill]")) row.querySelector("a[data-open]").href = linkTo(row.dataset.skill);
  for (const bar of table.querySelectorAll(".interval")) {
    const rates = Object.fromEntries(Object.entries(bar.dataset).map(([name, value]) => [name, Number(value)]));
    drawInterval(bar, rates);
  }
  rankingSort = sortableByAddress(table, "ranking", rowSorter(table));
  openingRows(table);
  for (const each of [byId("dimension-table"), byId("judging-table")].filter((it) => it !== null)) {
    sortableRows(each);
    openingRows(each);
  }
  const choice = byId("skill-choice");
  choice.append(...report.skills.map((skill) => element("option", { value: skill.name }, skill.name)));
  choice.addEventListener("change", () => (location.hash = carried(linkTo(choice.value))));
}

/** The charts again, in the colours of the present theme. */
function drawCharts() {
  if (!shownSkill) return;
  drawLatency(shownSkill.items);
  drawPlaces();
}

function startAlarm() {
  for (const link of document.querySelectorAll("a[data-alarm]")) link.href = linkTo(link.dataset.alarm, link.dataset.task, link.dataset.run);
}

startTheme(drawCharts);
if (report.skills.length) {
  startAlarm();
  startRanking();
  startSkill();
  startTask(stepTask, () => {
    if (addressed().has("task")) location.hash = carried(linkTo(shownSkill.name));
  });
  startMatrix();
  startGroups();
  startPlaces();
  carryChoices((link) => (goal = link.dataset.goal));
  addEventListener("hashchange", route);
  route();
}
/** The command that repeats the run is copied by a click; where there is no clipboard it is selected. */
function startCopy() {
  const [button, command] = [byId("copy"), byId("command")];
  if (!button) return;
  button.hidden = false;
  button.addEventListener("click", async () => {
    getSelection().selectAllChildren(command);
    try {
      await navigator.clipboard.writeText(command.textContent);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Selected";
    }
  });
}

startCopy();
if (typeof offerExports === "function") offerExports();
if (byId("live")) watchRuns(byId("live"), { wanted: byId("live").dataset.run });
performance.mark("interactive");
