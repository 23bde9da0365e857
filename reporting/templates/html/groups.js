// Failures of all skills by their reason; wherever a reason or the kind of an error is named, a click filters the tasks by it.

const GROUP_PAGE = 25;
const GROUP_SKILLS = 5;

const groupName = ({ key }) => key.slice(key.indexOf(":") + 1);

/** A link to the tasks of a skill that did not pass for the reason of a group. */
function groupLink(group, skill, ...says) {
  const href = `${linkTo(skill.name)}&tasks.why=${encodeURIComponent(group.key)}`;
  return element("a", { href, title: `Tasks of ${skill.name} with ${groupName(group)}`, "data-goal": "filters" }, ...(says.length ? says : [groupName(group)]));
}

/** Links for the reasons of these items, each once. */
function whyLinks(skill, items) {
  const found = [...new Set(items.flatMap((item) => item.why ?? []))];
  return found.map((index) => element("small", { className: "label" }, groupLink(report.failures[index], skill)));
}

function groupRow(group) {
  const [[most]] = group.skills;
  const links = group.skills.slice(0, GROUP_SKILLS).map(([skill, items]) => element("span", { className: "label" }, groupLink(group, report.skills[skill], report.skills[skill].name), ` ${items.toLocaleString("en")}`));
  const rest = group.skills.length - links.length;
  const { skill, task, run, text } = group.example;
  const sample = [element("a", { href: linkTo(report.skills[skill].name, task, run + 1) }, `${task}#${run + 1}`), `: ${report.texts[text][0]}`];
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, groupLink(group, report.skills[most]), element("small", { className: "detail" }, group.key.startsWith("error:") ? "error" : "failed check")),
    cell(group.items, "number", group.items.toLocaleString("en")),
    cell(group.tasks, "number wide", group.tasks.toLocaleString("en")),
    cell(group.skills.length, "group-skills", ...links, ...(rest ? [` and ${plural(rest, "more skill")}`] : [])),
    element("td", { className: "reason wide" }, element("div", {}, ...sample)),
  );
}

function startGroups() {
  byId("groups").hidden = report.failures.length === 0;
  showPaged(byId("group-table").tBodies[0], byId("groups-more"), report.failures, GROUP_PAGE, groupRow);
  byId("groups-left").hidden = report.failuresMore === 0;
  byId("groups-left").textContent = `${plural(report.failuresMore, "more reason")} with fewer items are not in this page.`;
}
