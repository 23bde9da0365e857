// Where an answer differs from what was expected: texts by word, JSON by path. What is compared was compared in Python.

const DIFFERENCE_MARKS = { removed: ["del", "expected: "], added: ["ins", "answered: "] };
const CHANGE_LOOKS = { missing: "fail", extra: "pass", value: "error", type: "error" };

/** A difference as a box with its title; nothing where there is none. */
function differenceParts(difference, title = "Difference from the expected answer") {
  if (!difference) return [];
  const parts = [];
  if (difference.words) parts.push(wordsElement(difference.words));
  if (difference.changes) parts.push(changesTable(difference.changes, difference.more ?? 0));
  const notes = (difference.notes ?? []).map((note) => element("p", { className: "note" }, note));
  return [element("div", { className: "difference" }, element("p", { className: "caption" }, title), ...parts, ...notes)];
}

function wordsElement(parts) {
  return element("pre", { className: "words" }, ...parts.map(([kind, text]) => wordPart(kind, text)));
}

function wordPart(kind, text) {
  if (kind === "skipped") return element("small", { className: "cut" }, ` ✂ ${text} `);
  if (!(kind in DIFFERENCE_MARKS)) return text;
  const [tag, says] = DIFFERENCE_MARKS[kind];
  return element(tag, {}, element("span", { className: "hidden-text" }, `[${says}`), text, element("span", { className: "hidden-text" }, "]"));
}

function changesTable(changes, more) {
  const head = element("tr", {}, ...["Place", "Kind", "Expected", "Answered"].map((title) => element("th", { scope: "col" }, title)));
  const table = element("table", {}, element("thead", {}, head), element("tbody", {}, ...changes.map(changeRow)));
  const left = more ? [element("p", { className: "cut" }, `✂ ${more.toLocaleString("en")} more`)] : [];
  return element("div", {}, element("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: "Differences" }, table), ...left);
}

function changeRow({ path, kind, expected, got, types, answerPath, words }) {
  const place = [element("code", {}, path === "" ? "the whole" : path), ...(answerPath ? [" ", element("small", {}, `in the answer ${answerPath}`)] : [])];
  const side = (tag, text, type) => (text === undefined ? [UNKNOWN] : [...(type ? [element("small", {}, `${type} `)] : []), element(tag, {}, element("code", {}, text))]);
  const cells = words ? [element("td", { colSpan: 2 }, wordsElement(words))] : [element("td", {}, ...side("del", expected, types?.[0])), element("td", {}, ...side("ins", got, types?.[1]))];
  return element("tr", {}, element("td", {}, ...place), element("td", {}, element("span", { className: `tag ${CHANGE_LOOKS[kind]}` }, kind)), ...cells);
}
