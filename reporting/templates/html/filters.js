// Which tasks of a skill are shown: by outcome, by reason, by tag, and by what any of their texts holds.

const groupsOf = new Map();

/** The tasks of a skill, each with its items in order of their runs; put together when they are first looked at. */
function taskGroups(skill) {
  if (!groupsOf.has(skill)) {
    const groups = new Map();
    for (const item of skill.items) {
      const task = report.tasks[item.task];
      if (!groups.has(task.id)) groups.set(task.id, { task, items: [] });
      groups.get(task.id).items.push(item);
    }
    groupsOf.set(skill, [...groups.values()].map(described));
  }
  return groupsOf.get(skill);
}

function described(group) {
  const items = group.items.sort((a, b) => a.run - b.run);
  const passed = items.filter((item) => item.status === "pass").length;
  const judged = items.filter((item) => !item.missing).length;
  return { ...group, items, passed, flaky: passed > 0 && passed < judged };
}

const OUTCOMES = {
  all: () => true,
  open: (group) => group.passed < group.items.length,
  flaky: (group) => group.flaky,
  pass: (group) => group.passed === group.items.length,
  fail: (group) => group.items.some((item) => item.status === "fail"),
  error: (group) => group.items.some((item) => item.status === "error"),
  timeout: (group) => group.items.some((item) => item.status === "timeout"),
};

const FILTERS = { "tasks.show": "filter-status", "tasks.why": "filter-why", "tasks.tag": "filter-tag", "tasks.q": "filter-search" };

/** Take the filters from the address; one that it does not name, or that no skill knows, is off. */
function followFilters() {
  offerTags(taskGroups(shownSkill));
  offerReasons(taskGroups(shownSkill));
  for (const [name, id] of Object.entries(FILTERS)) {
    const field = byId(id);
    const asked = choiceOf(name);
    field.value = id === "filter-status" && asked === "" ? "all" : id === "filter-tag" && asked !== "" ? `.${asked}` : asked;
    if (field.selectedIndex < 0) field.selectedIndex = 0;
  }
}

function keepFilters() {
  const value = (id) => byId(id).value;
  keepChoices({
    "tasks.show": value("filter-status") === "all" ? "" : value("filter-status"),
    "tasks.why": value("filter-why"),
    "tasks.tag": value("filter-tag").slice(1),
    "tasks.q": value("filter-search").trim(),
  });
}

/** Offer the reasons for which items of this skill did not pass; and the one that the address asks for, if any skill has it. */
function offerReasons(groups) {
  const found = new Set(groups.flatMap((group) => group.items.flatMap((item) => item.why ?? [])));
  found.add(report.failures.findIndex(({ key }) => key === choiceOf("tasks.why")));
  const keys = report.failures.map(({ key }) => key).filter((_, index) => found.has(index));
  byId("filter-why").replaceChildren(element("option", { value: "" }, "any"), ...keys.map((key) => element("option", { value: key }, key.slice(key.indexOf(":") + 1))));
}

/** The groups that the filters leave. */
function filtered(groups) {
  const outcome = OUTCOMES[byId("filter-status").value];
  const tag = byId("filter-tag").value;
  const words = byId("filter-search").value.trim().toLowerCase();
  const why = report.failures.findIndex(({ key }) => key === byId("filter-why").value);
  return groups.filter(
    (group) => outcome(group) && (why < 0 || group.items.some((item) => item.why?.includes(why))) && (tag === "" || group.task.tags.includes(tag.slice(1))) && (words === "" || wording(group).includes(words)),
  );
}

/** Everything that is said of a task and its items, in lower case. */
function wording(group) {
  group.wording ??= [
    group.task.id,
    ...group.task.tags,
    ...[group.task.about, group.task.input, group.task.expected, ...group.items.flatMap((item) => [item.output, ...(item.reasons ?? [])])]
      .filter((index) => index !== undefined)
      .map((index) => report.texts[index][0]),
    ...group.items.flatMap(callWords),
  ]
    .join("\n")
    .toLowerCase();
  return group.wording;
}

/** Offer the tags of these tasks, and the one that the address asks for; with a dot before, so that no tag is taken for "any". */
function offerTags(groups) {
  const asked = report.tasks.some((task) => task.tags.includes(choiceOf("tasks.tag"))) ? [choiceOf("tasks.tag")] : [];
  const tags = [...new Set([...groups.flatMap((group) => group.task.tags), ...asked])].sort(collator.compare);
  byId("filter-tag").replaceChildren(
    element("option", { value: "" }, "any"),
    ...tags.map((tag) => element("option", { value: `.${tag}` }, tag)),
  );
}
