// Where an answer differs from what was expected: texts by word, JSON by path. What is compared was compared in Python.

const DIFFERENCE_MARKS = { removed: ["del", 0], added: ["ins", 1] };
const SIDES = ["Expected", "Answered"];
const CHANGE_LOOKS = { missing: "fail", extra: "pass", value: "error", type: "error" };

/** A difference as a box with its title; nothing where there is none. `sides` are what is compared, and what with. */
function differenceParts(difference, title = "Difference from the expected answer", sides = SIDES) {
  if (!difference) return [];
  const parts = [];
  if (difference.words) parts.push(wordsElement(difference.words, sides));
  if (difference.changes) parts.push(changesTable(difference.changes, difference.more ?? 0, sides));
  const notes = (difference.notes ?? []).map((note) => element("p", { className: "note" }, note));
  return [element("div", { className: "difference" }, element("p", { className: "caption" }, title), ...parts, ...notes)];
}

function wordsElement(parts, sides) {
  return element("pre", { className: "words" }, ...parts.map(([kind, text]) => wordPart(kind, text, sides)));
}

function wordPart(kind, text, sides) {
  if (kind === "skipped") return element("small", { className: "cut" }, ` ✂ ${text} `);
  if (!(kind in DIFFERENCE_MARKS)) return text;
  const [tag, side] = DIFFERENCE_MARKS[kind];
  return element(tag, {}, element("span", { className: "hidden-text" }, `[${sides === SIDES ? sides[side].toLowerCase() : sides[side]}: `), text, element("span", { className: "hidden-text" }, "]"));
}

function changesTable(changes, more, sides) {
  const head = element("tr", {}, ...["Place", "Kind", ...sides].map((title) => element("th", { scope: "col" }, title)));
  const table = element("table", {}, element("thead", {}, head), element("tbody", {}, ...changes.map((each) => changeRow(each, sides))));
  const left = more ? [element("p", { className: "cut" }, `✂ ${more.toLocaleString("en")} more`)] : [];
  return element("div", {}, element("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: "Differences" }, table), ...left);
}

function changeRow({ path, kind, expected, got, types, answerPath, words }, sides) {
  const place = [element("code", {}, path === "" ? "the whole" : path), ...(answerPath ? [" ", element("small", {}, `in the answer ${answerPath}`)] : [])];
  const side = (tag, text, type) => (text === undefined ? [UNKNOWN] : [...(type ? [element("small", {}, `${type} `)] : []), element(tag, {}, element("code", {}, text))]);
  const cells = words ? [element("td", { colSpan: 2 }, wordsElement(words, sides))] : [element("td", {}, ...side("del", expected, types?.[0])), element("td", {}, ...side("ins", got, types?.[1]))];
  return element("tr", {}, element("td", {}, ...place), element("td", {}, element("span", { className: `tag ${CHANGE_LOOKS[kind]}` }, kind)), ...cells);
}
