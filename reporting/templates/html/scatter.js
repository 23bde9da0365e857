// Quality against time or cost: a point for each skill, with the interval of its completion, and the Pareto front.

const QUALITY_TITLES = { completion: "completion", partial: "partial score" };
const EXPENSE_TITLES = { p50: "P50 latency, ms", p95: "P95 latency, ms", cost: "cost of an item, USD" };
const NAMED_POINTS = 25; // more names than this hide the points

let placesChart = null;

const shownQuality = percent;
const shownExpense = (kind, value) => (kind === "cost" ? dollars(value) : milliseconds(value));

/** The skills that have both figures, by index, and those that lack one. */
function placed(quality, expense) {
  const all = report.places.map((place, index) => ({ ...place, index, name: report.skills[index].name }));
  const has = (place) => place[quality] !== undefined && place[expense] !== undefined;
  return { drawn: all.filter(has), missing: all.filter((place) => !has(place)) };
}

function drawPlaces() {
  if (byId("places").hidden) return;
  const [quality, expense] = [byId("places-quality").value, byId("places-expense").value];
  const { drawn, missing } = placed(quality, expense);
  const front = report.fronts[`${quality}/${expense}`];
  placesChart?.destroy();
  placesChart = null;
  byId("places-box").hidden = drawn.length === 0;
  if (drawn.length) placesChart = new Chart(byId("places-chart"), placesSettings(drawn, front, quality, expense));
  byId("places-chart").setAttribute("aria-label", `Scatter chart of ${QUALITY_TITLES[quality]} against ${EXPENSE_TITLES[expense]}; the table below has its figures.`);
  placesWords(drawn, missing, front, quality, expense);
}

/** What the chart says, in words and as a table. */
function placesWords(drawn, missing, front, quality, expense) {
  const names = (places) => places.map(({ name }) => name).join(", ");
  const notes = [];
  const priced = drawn.filter((place) => expense === "cost" && place.priced);
  const others = priced.length ? "other skill whose cost is known of all items" : "other skill drawn";
  if (front.length) notes.push(`◆ Pareto front, cheapest first: ${front.map((index) => report.skills[index].name).join(", ")}. No ${others} is at least as good in both, and better in one.`);
  if (missing.length) notes.push(`Not drawn, since ${expense === "cost" ? "the cost" : "a figure"} is not known: ${names(missing)}.`);
  if (priced.length) notes.push(`Mean over the items whose cost is known, and on no front: ${priced.map((place) => `${place.name} ${plural(place.priced, "item")}`).join(", ")}.`);
  if (quality === "completion") notes.push("The vertical bars are the intervals of the ranking; intervals of the other figures are not known.");
  byId("places-notes").replaceChildren(...notes.map((note) => element("li", {}, note)));
  const rows = drawn.map((place) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, element("a", { href: linkTo(place.name) }, place.name)),
      element("td", { className: "number" }, shownQuality(place[quality])),
      element("td", { className: "number" }, shownExpense(expense, place[expense])),
      element("td", {}, front.includes(place.index) ? "◆ yes" : "no"),
    ),
  );
  const heads = ["Skill", QUALITY_TITLES[quality], EXPENSE_TITLES[expense], "On the front"].map((title, column) => element("th", { scope: "col", className: column === 1 || column === 2 ? "number" : "" }, title));
  byId("places-table").replaceChildren(element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows));
}

function placesSettings(drawn, front, quality, expense) {
  const [ink, quiet, line] = [colour("--ink"), colour("--quiet"), colour("--line")];
  const spot = (place) => ({ x: place[expense], y: place[quality], place });
  const on = (place) => front.includes(place.index);
  const set = (label, places, colouring, pointStyle) => ({ label, data: places.map(spot), backgroundColor: colouring, borderColor: ink, borderWidth: 1, pointStyle, radius: 6, hoverRadius: 8, clip: false });
  const values = drawn.map((place) => place[expense]);
  const wide = Math.min(...values) > 0 && Math.max(...values) > WIDE * Math.min(...values);
  const axis = { grid: { color: line }, ticks: { color: quiet } };
  return {
    type: "scatter",
    data: {
      datasets: [
        set("on the Pareto front", drawn.filter(on), colour("--pass"), "rectRot"),
        set("other skills", drawn.filter((place) => !on(place)), colour("--link"), "circle"),
        { type: "line", label: "front", data: front.map((index) => spot(report.places[index])), borderColor: colour("--pass"), borderDash: [6, 4], borderWidth: 1.5, pointRadius: 0, stepped: "before" },
        ...(quality === "completion" ? drawn.map((place) => whisker(place, expense, quiet)) : []),
      ],
    },
    options: {
      animation: false,
      maintainAspectRatio: false,
      layout: { padding: { top: 14, right: 14 } },
      onClick: (_, [active], { data }) => active && (location.hash = carried(linkTo(data.datasets[active.datasetIndex].data[active.index].place.name))),
      scales: {
        x: { ...axis, type: wide ? "logarithmic" : "linear", beginAtZero: !wide, grace: "5%", title: { display: true, text: `${EXPENSE_TITLES[expense]}${wide ? " (logarithmic)" : ""}`, color: quiet }, ticks: { color: quiet, maxTicksLimit: 8, callback: tickText } },
        y: { ...axis, min: 0, max: 1, title: { display: true, text: QUALITY_TITLES[quality], color: quiet }, ticks: { color: quiet, callback: (value) => `${Math.round(value * 100)} %` } },
      },
      plugins: {
        legend: { labels: { color: ink, usePointStyle: true, filter: ({ datasetIndex }) => datasetIndex < 2 } },
        tooltip: { filter: ({ datasetIndex }) => datasetIndex < 2, callbacks: { label: ({ raw }) => `${raw.place.name}: ${shownQuality(raw.y)}, ${shownExpense(expense, raw.x)}` } },
      },
    },
    plugins: drawn.length <= NAMED_POINTS ? [pointNames] : [],
  };
}

/** A tick of the expense: as it is, `100` beside `0.0001`; of a logarithmic axis only those that Chart.js names. */
function tickText(value, index, ticks) {
  const isNamed = this.type !== "logarithmic" || Chart.Ticks.formatters.logarithmic.call(this, value, index, ticks) !== "";
  return isNamed ? value.toLocaleString("en", { maximumSignificantDigits: 4 }) : "";
}

/** The interval of a completion rate, as a line between its ends. */
function whisker(place, expense, stroke) {
  const end = (y) => ({ x: place[expense], y });
  return { type: "line", label: place.name, data: [end(place.lower), end(place.upper)], borderColor: stroke, borderWidth: 1.5, pointStyle: "line", pointRadius: 4, pointHitRadius: 0, clip: false };
}

/** The names beside the points, where another name does not stand yet. */
const pointNames = {
  id: "pointNames",
  afterDatasetsDraw(chart) {
    const { ctx, chartArea } = chart;
    ctx.save();
    Object.assign(ctx, { font: "12px system-ui, sans-serif", textBaseline: "middle", fillStyle: colour("--ink") });
    const taken = [];
    for (const index of [0, 1]) {
      chart.getDatasetMeta(index).data.forEach(({ x, y }, point) => {
        const { name } = chart.data.datasets[index].data[point].place;
        const said = name.length > 30 ? `${name.slice(0, 29)}…` : name;
        const { width } = ctx.measureText(said);
        const left = x + 11 + width < chartArea.right ? x + 11 : x - 11 - width;
        if (left < chartArea.left || taken.some((each) => Math.abs(each.y - y) < 14 && left < each.right && each.left < left + width)) return;
        ctx.fillText(said, left, y);
        taken.push({ left, right: left + width, y });
      });
    }
    ctx.restore();
  },
};

function followPlaces() {
  for (const [name, id] of [["places.y", "places-quality"], ["places.x", "places-expense"]]) {
    const list = byId(id);
    list.value = choiceOf(name);
    if (list.selectedIndex < 0) list.value = list.dataset.usual;
  }
  const asked = byId("places-quality").value + byId("places-expense").value;
  if (asked === followPlaces.shown) return;
  followPlaces.shown = asked;
  drawPlaces();
}

function startPlaces() {
  byId("places").hidden = report.skills.length < 2;
  const choices = () => Object.fromEntries([["places.y", "places-quality"], ["places.x", "places-expense"]].map(([name, id]) => [name, byId(id).value === byId(id).dataset.usual ? "" : byId(id).value]));
  byId("places-choice").addEventListener("submit", (event) => event.preventDefault());
  byId("places-choice").addEventListener("input", () => {
    keepChoices(choices());
    followPlaces();
  });
}
