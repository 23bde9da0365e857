// Failures of all skills by their reason; wherever a reason or the kind of an error is named, a click filters the tasks by it,
// and another click on it shows all of them again.

const GROUP_PAGE = 25;
const GROUP_SKILLS = 5;

const groupName = ({ key }) => key.slice(key.indexOf(":") + 1);

/** A link to the tasks of a skill that did not pass for the reason of a group. */
function groupLink(group, skill, ...says) {
  const link = element("a", { "data-goal": "filters", "data-why": group.key, "data-of": skill.name }, ...(says.length ? says : [groupName(group)]));
  return leadingTo(link, false);
}

/** Where the link of a reason leads: to its tasks, or where they are shown, back to all. */
function leadingTo(link, isShown) {
  const { why, of } = link.dataset;
  link.href = `${linkTo(of)}&tasks.why=${isShown ? "" : encodeURIComponent(why)}`;
  link.title = isShown ? `All tasks of ${of} again` : `Tasks of ${of} with ${groupName({ key: why })}`;
  if (isShown) link.setAttribute("aria-current", "true");
  else link.removeAttribute("aria-current");
  return link;
}

/** Mark the links of the reason that the tasks of this skill are filtered by. */
function markReasons(skill, key) {
  for (const link of document.querySelectorAll("a[data-why]")) {
    const isShown = link.dataset.why === key && link.dataset.of === skill.name;
    if (isShown !== link.hasAttribute("aria-current")) leadingTo(link, isShown);
  }
}

/** Links for the reasons of these items, each once. */
function whyLinks(skill, items) {
  const found = [...new Set(items.flatMap((item) => item.why ?? []))];
  return found.map((index) => element("small", { className: "label" }, groupLink(report.failures[index], skill)));
}

function groupRow(group) {
  const [[most]] = group.skills;
  const links = group.skills.slice(0, GROUP_SKILLS).map(([skill, items]) => [" ", element("span", { className: "label" }, groupLink(group, report.skills[skill], report.skills[skill].name), ` ${items.toLocaleString("en")}`)]);
  const rest = group.skills.length - links.length;
  const { skill, task, run, text } = group.example;
  const sample = [element("a", { href: linkTo(report.skills[skill].name, task, run + 1) }, element("bdi", {}, task), `#${run + 1}`), `: ${report.texts[text][0]}`];
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, groupLink(group, report.skills[most]), element("small", { className: "detail" }, group.key.startsWith("error:") ? "error" : "failed check")),
    cell(group.items, "number", group.items.toLocaleString("en")),
    cell(group.tasks, "number wide", group.tasks.toLocaleString("en")),
    cell(group.skills.length, "group-skills", ...links.flat(), ...(rest ? [` and ${plural(rest, "more skill")}`] : [])),
    element("td", { className: "reason wide" }, element("div", {}, ...sample)),
  );
}

function startGroups() {
  byId("groups").hidden = report.failures.length === 0;
  showPaged(byId("group-table").tBodies[0], byId("groups-more"), report.failures, GROUP_PAGE, groupRow);
  byId("groups-left").hidden = report.failuresMore === 0;
  byId("groups-left").textContent = `Not on this page: ${plural(report.failuresMore, "more reason")}, with as many items or fewer.`;
}
