// How long the items took, as a histogram stacked by outcome. The plotting is Chart.js; the bins are ours.

const TENTHS = [1, 1.6, 2.5, 4, 6.3]; // five steps of equal ratio to a decade: the R5 series of ISO 3
const WIDE = 20; // from this ratio of longest to shortest on, equal widths would put nearly all items into one bin
const MOST_BINS = 12;

let latencyChart = null;

function drawLatency(items) {
  const timed = items.filter((item) => item.ms !== undefined);
  byId("latency").hidden = timed.length === 0;
  latencyChart?.destroy();
  latencyChart = null;
  if (timed.length === 0) return;
  const { edges, logarithmic } = latencyEdges(timed.map((item) => item.ms));
  const note = `${plural(timed.length, "item")} with a known time; bins ${logarithmic ? "of equal ratio" : "of equal width"}.`;
  byId("latency-note").textContent = note;
  byId("latency-chart").setAttribute("aria-label", `Histogram of latency. ${note}`);
  latencyChart = new Chart(byId("latency-chart"), latencySettings(timed, edges));
}

function latencyEdges(values) {
  const low = values.reduce((least, value) => Math.min(least, value));
  const high = values.reduce((most, value) => Math.max(most, value));
  const logarithmic = high > WIDE * Math.max(low, 0.01);
  return { edges: logarithmic ? ratioEdges(low, high) : widthEdges(low, high), logarithmic };
}

/** Edges of five bins to a decade around all values; what is shorter than 0.01 ms falls into a first bin that begins at 0. */
function ratioEdges(low, high) {
  const edges = [0];
  for (let power = -2; edges.at(-1) <= high; power++) {
    edges.push(...TENTHS.map((step) => Number((step * 10 ** power).toPrecision(2))));
  }
  return edges.slice(edges.findLastIndex((edge) => edge <= low), edges.findIndex((edge) => edge > high) + 1);
}

function widthEdges(low, high) {
  const least = Math.max(high - low, high / 10, 0.01) / MOST_BINS;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= least);
  const edge = (index) => Number((index * step).toPrecision(6)); // a division alone could leave out the shortest or the longest
  let first = Math.floor(low / step);
  while (edge(first) > low) first -= 1;
  const edges = [edge(first)];
  while (edges.at(-1) <= high) edges.push(edge(first + edges.length));
  return edges;
}

function latencySettings(items, edges) {
  const counts = Object.fromEntries(Object.keys(STATUSES).map((status) => [status, Array(edges.length - 1).fill(0)]));
  for (const item of items) counts[item.status][edges.findLastIndex((edge) => edge <= item.ms)]++;
  const ink = colour("--quiet");
  const axis = { stacked: true, ticks: { color: ink, precision: 0 }, grid: { color: colour("--line") } };
  return {
    type: "bar",
    data: {
      labels: edges.slice(1).map((edge, index) => `${edges[index].toLocaleString("en")}–${edge.toLocaleString("en")}`),
      datasets: Object.keys(STATUSES)
        .filter((status) => counts[status].some((count) => count))
        .map((status) => ({ label: STATUSES[status], data: counts[status], backgroundColor: colour(`--${status}`) })),
    },
    options: {
      animation: false,
      maintainAspectRatio: false,
      datasets: { bar: { categoryPercentage: 1, barPercentage: 0.94 } },
      scales: {
        x: { ...axis, grid: { display: false }, title: { display: true, text: "ms", color: ink } },
        y: { ...axis, title: { display: true, text: "items", color: ink } },
      },
      plugins: { legend: { labels: { color: ink, boxWidth: 12 } }, tooltip: { callbacks: { title: ([bin]) => `${bin.label} ms` } } },
    },
  };
}
