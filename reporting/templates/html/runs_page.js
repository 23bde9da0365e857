// The list of runs: two that are selected can be compared, the earlier one first.

const shown = JSON.parse(byId("data").textContent);

function offerComparison(rows, place) {
  const [before, after] = rows.map((row) => row.values[0]).sort();
  const link = rows.length === 2 ? element("a", { href: `compare-${before}-${after}.html`, className: "action" }, "Compare the two") : undefined;
  place.replaceChildren(...(link ? [link] : []));
  comparison = link;
}

let comparison;
const [runs] = [...document.querySelectorAll(".data-table")].map((place, index) => dataTable(place, shown.tables[index], offerComparison));
onKey("/", "search", () => runs.search.focus());
onKey("c", "compare the two runs that are selected", () => comparison?.click());
startKeys();
const inState = (state) => shown.tables[0].rows.filter((row) => row[1] === state).map(([run]) => run);
if (shown.live) watchRuns(byId("live"), { running: inState("running"), isDue: inState("landing").length > 0 });
startTheme(() => {});
performance.mark("interactive");
