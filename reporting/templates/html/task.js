// One task of one skill: what was asked and expected, then every run with its answer and the reasons for its verdict.

function showTask(skill, group, run) {
  const { task, items } = group;
  byId("task-name").textContent = task.id;
  byId("task-about").replaceChildren(
    ...(task.about === undefined ? [] : [report.texts[task.about][0], " "]),
    ...task.tags.map((tag) => element("small", { className: "label" }, tag)),
    ...(group.flaky ? [element("span", { className: "tag flaky" }, "flaky")] : []),
    ...(task.page === undefined ? [] : [" ", element("a", { href: task.page }, "All answers to this task")]),
  );
  byId("task-asked").replaceChildren(...askedColumns(task, "h3"));
  byId("task-runs").replaceChildren(...items.map((item) => linkedCard(skill, item, task.page === undefined ? undefined : `${task.page}#${new URLSearchParams({ answer: `${skill.name}#${item.run + 1}` })}`)));
  const dialog = byId("task");
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  byId("task-runs").querySelector(`[data-run="${Number(run ?? 0) - 1}"]`)?.scrollIntoView();
}

/** A run, and where its answer stands on the page of its task, where that has one. */
function linkedCard(skill, item, page) {
  const card = runCard(item);
  card.querySelector("h3").append(...whyLinks(skill, [item]));
  if (page) card.append(element("p", {}, element("a", { href: page }, `Run ${item.run + 1} on the page of the task`)));
  return card;
}

function runCard(item, title = [`Run ${item.run + 1} `]) {
  const facts = [
    ["score", item.score === undefined ? undefined : score(item.score)],
    ["latency", item.ms === undefined ? undefined : milliseconds(item.ms)],
    ["first token", item.firstToken === undefined ? undefined : milliseconds(item.firstToken)],
    ["attempts", item.attempts],
    ["error", item.kind],
    ["tokens", item.tokens?.toLocaleString("en")],
    ["cost", item.cost],
    ...Object.entries(item.dimensions ?? {}).map(([name, value]) => [name, score(value)]),
  ].filter(([, value]) => value !== undefined);
  return element(
    "section",
    { className: "run", "data-run": item.run },
    element(
      "h3",
      {},
      ...title,
      element("span", { className: `tag ${item.status}` }, `${MARKS[item.status]} ${STATUSES[item.status]}`),
      element("small", {}, facts.map(([name, value]) => `${name} ${value}`).join(" · ")),
    ),
    element("div", { className: "columns" }, column("Answer", shownText(item.output)), column("Reasons", reasonList(item))),
    ...itemDifference(item),
    ...turnParts(item),
    ...didParts(item),
  );
}

/** Where the answer of an item differs from the expected one; of very many the page holds the first. */
function itemDifference(item) {
  if (item.difference === undefined) return [];
  if (item.difference < 0) return [element("p", { className: "cut" }, "✂ this page has no room for more differences; eval-skills show prints them")];
  return differenceParts(report.differences[item.difference]);
}

function column(title, content, level = "h4") {
  return element("div", {}, element(level, {}, title), content);
}

/** What a task asks and expects, side by side. */
function askedColumns(task, level) {
  const judged = task.rules === undefined ? [] : [column("Judged by", shownText(task.rules), level)];
  return [column("Input", shownText(task.input), level), column("Expected", shownText(task.expected), level), ...judged];
}

/** Texts that scroll can be reached with the keys. */
function reachScrolls(place) {
  for (const each of place.querySelectorAll(".text, .steps pre, .words")) if (each.scrollHeight > each.clientHeight) each.tabIndex = 0;
}

/** Buttons and keys of the dialog; `step(±1)` goes to a neighbouring task, `closed()` is told when the reader is done. */
function startTask(step, closed) {
  const dialog = byId("task");
  byId("task-previous").addEventListener("click", () => step(-1));
  byId("task-next").addEventListener("click", () => step(1));
  byId("task-close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", closed);
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: -1, ArrowRight: 1 };
    if (event.key in steps && !event.altKey && !event.ctrlKey && !event.metaKey) step(steps[event.key]);
  });
}
