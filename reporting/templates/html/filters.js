// Which tasks of a skill are shown: by outcome, by tag, and by what any of their texts holds.

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
  return { ...group, items, passed, flaky: passed > 0 && passed < items.length };
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

/** The groups that the three filters leave. */
function filtered(groups) {
  const outcome = OUTCOMES[byId("filter-status").value];
  const tag = byId("filter-tag").value;
  const words = byId("filter-search").value.trim().toLowerCase();
  return groups.filter(
    (group) => outcome(group) && (tag === "" || group.task.tags.includes(tag.slice(1))) && (words === "" || wording(group).includes(words)),
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

/** Offer the tags of these tasks; the value has a dot before it, so that no tag is taken for "any". */
function offerTags(groups) {
  const tags = [...new Set(groups.flatMap((group) => group.task.tags))].sort(collator.compare);
  byId("filter-tag").replaceChildren(
    element("option", { value: "" }, "any"),
    ...tags.map((tag) => element("option", { value: `.${tag}` }, tag)),
  );
}
