// A task of a run: what was asked, and the answers of all skills to it. What the filters leave stands in the address.

const ANSWERS_SHOWN = 60;
const report = JSON.parse(byId("data").textContent);
const answerName = (item) => `${item.skill}#${item.run + 1}`;

const labellings = new Map();

const place = () => new URLSearchParams(location.hash.slice(1));

function remembered(changes) {
  const asked = place();
  for (const [name, value] of Object.entries(changes)) value === "" ? asked.delete(name) : asked.set(name, value);
  history.replaceState(null, "", asked.size ? `#${asked}` : location.pathname + location.search);
}

function answerCard(item) {
  const { answer } = Object.fromEntries(place());
  const link = new URLSearchParams({ answer: answerName(item) });
  const card = runCard(item, [`${item.skill} · run ${item.run + 1} `]);
  if (answer === answerName(item)) card.classList.add("chosen");
  if (!labellings.has(item)) labellings.set(item, labelling(item.labelling.answer, item.labelling.said ?? undefined, report.live));
  card.append(labellings.get(item).element);
  card.append(element("p", { className: "links" }, element("a", { href: item.page }, "Trajectory"), element("a", { href: `#${link}` }, "Link to this answer")));
  return card;
}

function choice(title, name, values, changed) {
  const select = element("select", {}, element("option", { value: "" }, "any"), ...values.map(([value, text]) => element("option", { value }, text)));
  select.value = place().get(name) ?? "";
  if (select.selectedIndex < 0) select.value = "";
  select.addEventListener("change", () => {
    remembered({ [name]: select.value, answer: "" });
    changed();
  });
  return { label: element("label", {}, `${title} `, select), select };
}

function startAnswers() {
  const [task] = report.tasks;
  const asked = element("div", { className: "columns" }, ...askedColumns(task, "h3"));
  const cards = element("div", { className: "answers" });
  const count = element("output", { "aria-live": "polite" });
  const more = element("button", { type: "button" }, "Show more");
  let most = ANSWERS_SHOWN;
  const draw = () => {
    const left = report.items.filter((item) => (skill.select.value === "" || item.skill === skill.select.value) && (verdict.select.value === "" || item.status === verdict.select.value));
    count.textContent = left.length === report.items.length ? plural(left.length, "answer") : `${left.length} of ${plural(report.items.length, "answer")}`;
    const chosen = left.findIndex((item) => answerName(item) === place().get("answer"));
    most = Math.max(most, chosen + 1);
    cards.replaceChildren(...left.slice(0, most).map(answerCard));
    reachScrolls(byId("answers"));
    more.hidden = left.length <= most;
    more.textContent = `Show ${Math.min(ANSWERS_SHOWN, left.length - most)} more of ${left.length - most}`;
  };
  const skills = [...new Set(report.items.map((item) => item.skill))];
  const verdicts = Object.keys(STATUSES).filter((status) => report.items.some((item) => item.status === status));
  const skill = choice("Skill", "skill", skills.map((name) => [name, name]), draw);
  const verdict = choice("Verdict", "verdict", verdicts.map((status) => [status, STATUSES[status]]), draw);
  more.addEventListener("click", () => ((most += ANSWERS_SHOWN), draw()));
  const bar = element("form", { className: "filters", role: "search", ariaLabel: "Filter the answers" }, skill.label, verdict.label, count);
  bar.addEventListener("submit", (event) => event.preventDefault());
  byId("answers").replaceChildren(element("h2", {}, "Task"), asked, element("h2", {}, "Answers"), bar, cards, element("p", {}, more));
  const show = () => {
    for (const each of [skill, verdict]) each.select.value = place().get(each === skill ? "skill" : "verdict") ?? "";
    draw();
    cards.querySelector(".chosen")?.scrollIntoView();
  };
  addEventListener("hashchange", show);
  show();
  whenPrinted("rows", () => {
    const before = most;
    most = report.items.length;
    draw();
    return () => {
      most = before;
      draw();
    };
  });
}

startAnswers();
const shownTables = [...document.querySelectorAll(".data-table")].map((each, index) => dataTable(each, report.tables[index]));
onKey("/", "search the history", () => shownTables[0]?.search.focus());
if (report.live) labellingKeys(() => [...labellings.values()]);
startKeys();
startTheme(() => {});
performance.mark("interactive");
