// Tasks × runs: one row per task, one mark per run, so that mixed outcomes stand out.

const GRID_PAGE = 200;

/** What the columns sort by, in their order; the column of runs brings the flaky tasks together. */
const GRID_ORDER = [
  (group) => group.task.id,
  (group) => group.task.tags.join(" "),
  (group) => (group.flaky ? 1 : 0),
  (group) => group.passed / group.items.length,
  (group) => mean(group.items.map((item) => item.score)),
  (group) => mean(group.items.map((item) => item.ms)),
  (group) => firstReason(group),
];

function gridRow(skill, group) {
  const { task, items } = group;
  const link = element("a", { href: linkTo(skill.name, task.id), "data-open": "" }, task.id);
  const flaky = group.flaky ? [" ", element("span", { className: "tag flaky" }, "flaky")] : [];
  const tags = task.tags.flatMap((tag) => [" ", element("small", { className: "label" }, tag)]);
  return element(
    "tr",
    { className: group.flaky ? "mixed" : "" },
    element("td", {}, link, ...flaky),
    element("td", { className: "wide" }, ...tags),
    element("td", {}, strip(items)),
    element("td", { className: "number" }, `${group.passed} of ${items.length}`),
    element("td", { className: "number wide" }, score(mean(items.map((item) => item.score)))),
    element("td", { className: "number wide" }, milliseconds(mean(items.map((item) => item.ms)))),
    element("td", { className: "wide reason" }, element("div", {}, firstReason(group) ?? "")),
  );
}

/** The marks of the runs of one task. */
function strip(items) {
  const said = items.map((item) => `run ${item.run + 1}: ${STATUSES[item.status]}`).join(", ");
  const marks = items.map((item) =>
    element("span", { className: `mark ${item.status}`, title: `run ${item.run + 1}: ${STATUSES[item.status]}, ${milliseconds(item.ms)}` }, MARKS[item.status]),
  );
  return element("span", { className: "strip", role: "img", ariaLabel: said }, ...marks);
}

/** The first reason of the first item that did not pass, if any. */
function firstReason(group) {
  const index = group.items.find((item) => item.status !== "pass")?.reasons?.[0];
  return index === undefined ? undefined : report.texts[index][0];
}
