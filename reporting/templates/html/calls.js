// What the agent did in a run: its tool calls and its messages. The one that a reason points to is marked.

const did = (item) => (item.did === undefined ? {} : report.did.runs[item.did]);
const didText = (index) => (index < 0 ? undefined : report.did.texts[index][0]);

/** Everything that is said of the tool calls of an item, for the search. */
function callWords(item) {
  return (did(item).calls ?? []).flatMap(([, name, given]) => [didText(name), didText(given) ?? ""]);
}

/** The tool calls and the messages of a run, folded; nothing where they are not known. */
function didParts(item) {
  const { calls, callsMore = 0, messages, messagesMore = 0 } = did(item);
  const parts = [];
  if (calls) parts.push(didList("calls", "Tool calls", calls.length + callsMore, callsMore, calls.map(callRow), true));
  if (messages) parts.push(didList("messages", "Messages", messages.length + messagesMore, messagesMore, messages.map(messageRow), false));
  return parts;
}

function didList(className, title, count, more, rows, open) {
  const list = rows.length ? [element("ol", { className: "did" }, ...rows)] : [];
  const left = more ? [element("p", { className: "cut" }, `✂ ${more.toLocaleString("en")} more in the JSON report`)] : [];
  return element("details", { className, open }, element("summary", {}, `${title} (${count.toLocaleString("en")})`), ...list, ...left);
}

function callRow([index, name, given, result, error, pointed]) {
  const parts = [
    ["arguments", given],
    ["result", result],
    ["error", error],
  ].filter(([, text]) => text >= 0);
  const body = parts.map(([kind, text]) => element("div", {}, element("h5", {}, kind), didPre(text)));
  return didRow(`toolCalls[${index}]`, didText(name), parts.map(([kind, text]) => [kind, didText(text)]), body, pointed);
}

function messageRow([index, role, text, pointed]) {
  return didRow(`messages[${index}]`, didText(role), [["", didText(text)]], [didPre(text)], pointed);
}

/** One line that opens: its place, as reasons name it, its name, and the beginning of what it holds. */
function didRow(place, name, texts, body, pointed) {
  const begun = texts.map(([kind, text]) => `${kind === "arguments" || kind === "" ? "" : `${kind}: `}${text.replace(/\s+/g, " ").slice(0, 100)}`).join(" → ");
  const mark = pointed ? [" ", element("span", { className: "tag fail" }, "◀ reason")] : [];
  const line = element("summary", {}, element("small", {}, place), " ", element("b", {}, name), ...mark, " ", element("code", {}, begun));
  return element("li", { className: pointed ? "pointed" : "" }, element("details", { open: Boolean(pointed) }, line, ...body));
}

function didPre(index) {
  const [text, , more] = report.did.texts[index];
  const cut = more ? [element("small", { className: "cut" }, `✂ ${more.toLocaleString("en")} more characters in the JSON report`)] : [];
  return element("div", { className: "text" }, text === "" ? element("em", {}, "empty text") : element("pre", {}, text), ...cut);
}
