// Elements of the page. What a skill or a benchmark wrote becomes a text node or a plain property, never markup.

const UNKNOWN = "–";
const STATUSES = { pass: "passed", fail: "failed", error: "error", timeout: "timeout" };
const MARKS = { pass: "✓", fail: "✗", error: "!", timeout: "◷" };
const byId = (id) => document.getElementById(id);

/** An element with its properties (attributes where the name has a dash) and children. */
function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-")) made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children);
  return made;
}

/** A table cell that sorts by `value`; undefined is unknown. */
function cell(value, className, ...children) {
  const made = element("td", { className }, ...children);
  if (value !== undefined) made.dataset.value = value;
  return made;
}

/** One of the report's shared texts: what it was, the text itself, and how much of it is missing. */
function shownText(index) {
  if (index === undefined) return element("span", { className: "unknown" }, UNKNOWN);
  const [text, kind, more] = report.texts[index];
  const shown = text === "" ? element("em", {}, "empty text") : element("pre", {}, text);
  const parts = [element("small", { className: "kind" }, kind), shown];
  if (more) parts.push(element("small", { className: "cut" }, `✂ ${more.toLocaleString("en")} more characters in the JSON report`));
  return element("div", { className: "text" }, ...parts);
}

/** The bar of a completion rate: its interval, what was measured, and the gate where there is one. Rates are in [0, 1]. */
function drawInterval(bar, { at, lower, upper, gate }) {
  const part = (className, left, width) => {
    const made = element("span", { className });
    made.style.left = `${left * 100}%`;
    if (width !== undefined) made.style.width = `${width * 100}%`;
    return made;
  };
  bar.replaceChildren(part("range", lower, upper - lower), part("point", at));
  if (gate !== undefined) bar.append(part("gate", gate));
  bar.setAttribute("aria-hidden", "true");
  return bar;
}

/** A number with so many decimals, halves to even as Python writes them: 9 of 16 are 56.2 % everywhere. What is shown as 0 has no sign. */
function fixed(value, digits) {
  if (Math.abs(value) >= 1e21) return String(value); // from there on toFixed writes no decimals
  const [whole, rest] = value.toFixed(60).split("."); // what lies exactly in the middle ends there
  const kept = `${whole}${digits ? "." : ""}${rest.slice(0, digits)}`;
  const text = /^50*$/.test(rest.slice(digits)) && /[02468]$/.test(kept) ? kept : value.toFixed(digits);
  return text.replace(/^-(?=[0.]*$)/, "");
}

const amount = { minimumFractionDigits: 2, maximumFractionDigits: 2 };
/** As `usd` in reporting/numbers.py. */
function dollars(value) {
  if (value >= 1 || value === 0) return `$${Number(fixed(value, 2)).toLocaleString("en", amount)}`;
  if (value < 1e-11) return `$${value.toExponential(1)}`;
  return `$${value < 1e-4 ? value.toFixed(12).replace(/0+$/, "") : fixed(value, 4)}`;
}

/** The number with so many decimals, or up to four where what they leave out would not be enough. */
function enoughDigits(value, digits, isEnough) {
  for (let more = digits; more < 4; more += 1) {
    const text = fixed(value, more);
    if (isEnough(text)) return text;
  }
  return fixed(value, 4);
}

/** A rate in percent, without the sign: 99.96, so that only all is 100.0, and only nothing 0.0. */
const percentFigure = (rate) => enoughDigits(rate * 100, 1, (text) => ![0, 100].includes(Number(text)) || rate === 0 || rate === 1);
const percent = (rate) => (rate === null || rate === undefined ? UNKNOWN : `${percentFigure(rate)} %`);

function milliseconds(value) {
  if (value === undefined) return UNKNOWN;
  return value < 100 ? `${fixed(value, 1)} ms` : `${Number(fixed(value, 0)).toLocaleString("en")} ms`;
}

/** A figure whose unit and whose parenthesis stay on one line. */
const unbroken = (text) => text.replace(/\([^()]{1,24}\)/g, (part) => part.replaceAll(" ", "\u00a0")).replaceAll(" %", "\u00a0%");

function mean(values) {
  const known = values.filter((value) => value !== undefined);
  return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : undefined;
}

const score = (value) => (value === undefined ? UNKNOWN : fixed(value, 4));
const plural = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
