// One answer: its verdict, its calls beside the expected ones, its messages as a conversation, and the files that it changed.

const report = JSON.parse(byId("data").textContent);
const stepText = (index) => {
  if (index === null || index === undefined) return element("span", { className: "unknown" }, UNKNOWN);
  const [text, , more] = report.stepTexts[index];
  const cut = more ? [element("small", { className: "cut" }, `✂ ${more.toLocaleString("en")} more characters; eval-skills show --json has them`)] : [];
  return element("div", { className: "text" }, text === "" ? element("em", {}, "empty text") : element("pre", {}, text), ...cut);
};
const KINDS = { match: ["as expected", "pass"], arguments: ["other arguments", "error"], name: ["another spelling", "error"], missing: ["missing", "fail"], extra: ["extra", "timeout"] };
const shownOr = (value, written) => (value === null || value === undefined ? UNKNOWN : written(value));
const spent = ({ ms, tokens, usd }) => [`duration ${shownOr(ms, milliseconds)}`, `tokens ${shownOr(tokens, (each) => each.toLocaleString("en"))}`, `cost ${shownOr(usd, dollars)}`].join(" · ");

function steps(title, heads, rows) {
  const head = element("tr", {}, ...heads.map((each) => element("th", { scope: "col" }, each)));
  const table = element("table", { className: "steps" }, element("thead", {}, head), element("tbody", {}, ...rows));
  return element("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: title }, table);
}

function left(count) {
  return count ? [element("p", { className: "cut" }, `✂ ${count.toLocaleString("en")} more; eval-skills show --json has them`)] : [];
}

function alignmentSection({ how, said, rows, more }) {
  const side = (given) => (given ? [element("b", {}, given[0]), ...(given[1] ? [" ", element("code", {}, given[1])] : [])] : [UNKNOWN]);
  const made = rows.flatMap(({ kind, expected, actual, place, difference }) => {
    const [says, look] = KINDS[kind];
    const number = place === null ? [] : [element("small", {}, `toolCalls[${place}] `)];
    const row = element("tr", {}, element("td", {}, element("span", { className: `tag ${look}` }, says)), element("td", {}, ...side(expected)), element("td", {}, ...(actual ? number : []), ...side(actual)));
    const below = difference ? [element("tr", {}, element("td", { colSpan: 3 }, ...differenceParts(difference, "Arguments that differ")))] : [];
    return [row, ...below];
  });
  return [element("h2", {}, "Expected and actual calls"), element("p", { className: "note" }, `${said}; ${how}.`), steps("Expected and actual calls", ["Match", "Expected", "Called"], made), ...left(more)];
}

function callsSection(calls, more) {
  if (!calls) return [element("h2", {}, "Tool calls"), element("p", { className: "note" }, "What was called is not known: the skill reported neither calls nor messages.")];
  if (!calls.length) return [element("h2", {}, "Tool calls"), element("p", { className: "note" }, "None.")];
  const rows = calls.map((call, index) => {
    const mark = call.pointed ? [" ", element("span", { className: "tag fail" }, "◀ reason")] : [];
    const result = call.error === null ? stepText(call.result) : element("div", {}, element("span", { className: "tag error" }, "! error"), stepText(call.error), ...(call.result === null ? [] : [stepText(call.result)]));
    return element("tr", { id: `call-${index}` }, element("td", { className: "number" }, String(index)), element("td", {}, element("b", {}, call.name), ...mark), element("td", {}, stepText(call.arguments)), element("td", {}, result), element("td", { className: "number" }, shownOr(call.ms, milliseconds)));
  });
  return [element("h2", {}, `Tool calls (${(calls.length + more).toLocaleString("en")})`), steps("Tool calls", ["#", "Tool", "Arguments", "Result", "Duration"], rows), ...left(more)];
}

function messagesSection(messages, more) {
  if (!messages) return [];
  const cards = messages.map((message, index) => {
    const mark = message.pointed ? [element("span", { className: "tag fail" }, "◀ reason")] : [];
    const answers = message.answers ? [element("small", {}, `answers ${message.answers}`)] : [];
    const title = element("h3", {}, element("span", {}, message.role), element("small", {}, `messages[${index}]`), ...answers, element("small", {}, spent(message)), ...mark);
    const calls = message.calls.map(([name, given]) => element("div", {}, element("p", { className: "caption" }, `calls ${name}`), stepText(given)));
    const kind = ["user", "assistant", "tool", "function"].includes(message.role) ? message.role : "";
    return element("section", { className: `message ${kind} depth-${message.depth} ${message.pointed ? "pointed" : ""}` }, title, ...(message.text === null ? [] : [stepText(message.text)]), ...calls);
  });
  return [element("h2", {}, `Messages (${(messages.length + more).toLocaleString("en")})`), ...cards, ...left(more)];
}

function filesSection(files) {
  if (!files) return [];
  const rows = files.map((file) => element("tr", {}, element("td", {}, element("span", { className: "label" }, file.change)), element("td", {}, element("code", {}, file.path)), element("td", { className: "number" }, shownOr(file.size, (size) => `${size.toLocaleString("en")} B`)), element("td", {}, stepText(file.text))));
  return [element("h2", {}, `Files that it changed (${files.length})`), ...(files.length ? [steps("Files", ["Change", "Path", "Size", "Content"], rows)] : [element("p", { className: "note" }, "None.")])];
}

function startItem() {
  const [item] = report.items;
  const [task] = report.tasks;
  const asked = element("div", { className: "columns" }, ...askedColumns(task, "h3"));
  const card = runCard(item, ["Verdict "]);
  for (const [index, turn] of [...card.querySelectorAll(".turn")].entries()) turn.append(...differenceParts(report.turnDifferences[index]));
  const runs = report.runs.length > 1 ? [element("p", { className: "trail" }, "Runs of this task:", ...report.runs.map(({ run, page }) => (run === report.run ? element("b", {}, `run ${run + 1}`) : element("a", { href: page }, `run ${run + 1}`))))] : [];
  const again = report.again ? [element("h2", {}, "Ask it again"), element("pre", {}, report.again)] : [];
  byId("answers").replaceChildren(
    ...runs,
    element("h2", {}, "Task"),
    asked,
    element("h2", {}, "Answer"),
    card,
    ...(report.alignment ? alignmentSection(report.alignment) : []),
    ...callsSection(report.calls, report.callsMore),
    ...messagesSection(report.messages, report.messagesMore),
    ...filesSection(report.files),
    ...again,
  );
  reachScrolls(byId("answers"));
}

startItem();
const step = (by) => {
  const next = report.runs[report.runs.findIndex(({ run }) => run === report.run) + by];
  if (next) location.assign(next.page);
};
onKey("j", "next run of this task", () => step(1));
onKey("k", "previous run of this task", () => step(-1));
const labels = labelling(report.labelling.answer, report.labelling.said ?? undefined, report.live);
document.querySelector("#answers .run").append(labels.element);
if (report.live) labellingKeys(() => [labels]);
startKeys();
startTheme(() => {});
performance.mark("interactive");
