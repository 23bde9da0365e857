// Failures: input, expectation, answer and reasons side by side. Runs of a task that ended alike share a row.

const FAILURE_PAGE = 20;

function failureRows(groups) {
  return groups.flatMap((group) => {
    const alike = new Map();
    for (const item of group.items.filter((each) => each.status !== "pass")) {
      const key = JSON.stringify([item.task, item.status, item.output, item.reasons]);
      if (!alike.has(key)) alike.set(key, { items: [] });
      alike.get(key).items.push(item);
    }
    return [...alike.values()];
  });
}

function failureRow(skill, { items }) {
  const [{ status, output }] = items;
  const task = report.tasks[items[0].task];
  const runs = `run${items.length === 1 ? "" : "s"} ${items.map((item) => item.run + 1).join(", ")}`;
  const what = element("p", {}, element("span", { className: `tag ${status}` }, `${MARKS[status]} ${STATUSES[status]}`), ` ${runs}`);
  return element(
    "tr",
    {},
    element("td", {}, element("a", { href: linkTo(skill.name, task.id), "data-open": "" }, task.id), what, ...whyLinks(skill, items)),
    element("td", { "data-label": "Input" }, shownText(task.input)),
    element("td", { "data-label": "Expected" }, shownText(task.expected)),
    element("td", { "data-label": "Answer" }, shownText(output)),
    element("td", { "data-label": "Reasons" }, reasonList(items[0])),
  );
}

/** The reasons of an item in their stored order; a forbidden tool stands out. */
function reasonList(item) {
  const reasons = (item.reasons ?? []).map((index) => {
    const [text, , more] = report.texts[index];
    const cut = more ? [element("small", { className: "cut" }, ` ✂ ${more.toLocaleString("en")} more characters in the JSON report`)] : [];
    return element("li", { className: text.startsWith("FORBIDDEN_TOOL_CALLED") ? "forbidden" : "" }, text, ...cut);
  });
  return reasons.length ? element("ol", { className: "reasons" }, ...reasons) : element("span", { className: "unknown" }, UNKNOWN);
}
