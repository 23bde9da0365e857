// Flipped tasks: what both sides answered, side by side, and which of them the filters leave.

const FLIP_PAGE = 20;
const CHANGES = { better: ["✔ better", "pass"], worse: ["✘ worse", "fail"] };

function flipRow(skill, flip, sought) {
  const [said, look] = CHANGES[flip.change];
  const link = element("a", { href: linkTo(skill.name, flip.task) }, flip.task);
  return element(
    "tr",
    { className: flip.task === sought ? "sought" : "" },
    element("td", {}, link, element("p", {}, element("span", { className: `tag ${look}` }, said))),
    flipSide(flip.before, "A"),
    flipSide(flip.after, "B", ...differenceParts(flip.difference, "How B differs from A", ["A", "B"])),
  );
}

/** Which of the runs is shown, and how many of them passed; of one run alone its outcome has said so. */
function runWords(run, runs, rate) {
  if (runs === 1) return "";
  return runs === undefined ? ` run ${run}, ${rate} of its runs passed` : ` run ${run} of ${runs}, ${rate} of them passed`;
}

function flipSide({ status, rate, run, runs, output, reasons }, label, ...below) {
  const tag = element("span", { className: `tag ${status}` }, `${MARKS[status]} ${STATUSES[status]}`);
  const said = reasons.map((index) => element("li", {}, report.texts[index][0]));
  return element(
    "td",
    { "data-label": label },
    element("div", { className: "outcome" }, tag, runWords(run, runs, rate)),
    shownText(output),
    ...(said.length ? [element("ol", { className: "reasons" }, ...said)] : []),
    ...below,
  );
}

/** Whether the filters leave a skill. */
const isLeft = ({ verdict }) => byId("filter-verdict").value === "" || byId("filter-verdict").value === verdict;

/** The flipped tasks of a skill that the filters leave. */
function flipsLeft(skill) {
  const flips = isLeft(skill) ? skill.flips : [];
  const change = byId("filter-change").value;
  const words = byId("filter-search").value.trim().toLowerCase();
  return flips.filter((flip) => (change === "" || flip.change === change) && (words === "" || flipWording(flip).includes(words)));
}

/** Everything that is said of a flipped task, in lower case. */
function flipWording(flip) {
  flip.wording ??= [flip.task, ...[flip.before, flip.after].flatMap(({ output, reasons }) => [output, ...reasons])]
    .map((part) => (typeof part === "number" ? report.texts[part][0] : (part ?? "")))
    .join("\n")
    .toLowerCase();
  return flip.wording;
}

/** Show the flipped tasks of a skill in its section, the first page of them, or as far as the one that is `sought`. */
function showFlips(section, skill, sought) {
  const place = section.querySelector(".flips");
  section.hidden = !isLeft(skill);
  if (place === null) return [0, 0];
  const left = flipsLeft(skill);
  const total = skill.flips.length;
  place.hidden = false;
  place.querySelector(".flip-count").textContent = left.length === total ? total.toLocaleString("en") : `${left.length.toLocaleString("en")} of ${total.toLocaleString("en")}`;
  place.querySelector("table").hidden = left.length === 0;
  const page = Math.max(FLIP_PAGE, left.findIndex((flip) => flip.task === sought) + 1);
  showPaged(place.querySelector("tbody"), place.querySelector(".more"), left, FLIP_PAGE, (flip) => flipRow(skill, flip, sought), page);
  return [left.length, total];
}
