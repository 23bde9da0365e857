// A chart of a trend. The plotting is Chart.js; where the ticks of time stand, and the marked moments, are ours.

const TICK_WIDTH = 105;
const MARK_ROW = 16;
const LEAST_WIDTH = 480; // of a chart on which a tooltip does not hide the line
const MOST_VERSIONS = 8; // a longer legend says less than the marks and the table do

/** Draw one series; `read(point)` is told which of its points the reader points at, undefined for none. */
function drawTrend(canvas, trend, series, read) {
  return new Chart(canvas, {
    type: "line",
    data: { datasets: trendDatasets(series) },
    options: {
      animation: false,
      maintainAspectRatio: false,
      layout: { padding: { top: series.annotations.length ? MARK_ROW * 1.3 : 4, right: 4 } },
      interaction: { mode: "measured" },
      onHover: (_, [active], { data }) => active && read(data.datasets[active.datasetIndex].data[active.index].point),
      onClick: (_, [active], { data }) => {
        const page = active && data.datasets[active.datasetIndex].data[active.index].point.page;
        if (page !== undefined) location.assign(page);
      },
      scales: { x: timeAxis(series), y: valueAxis(trend) },
      plugins: {
        legend: versionLegend(series),
        tooltip: pointTooltip(),
      },
    },
    plugins: [markedMoments(series.annotations)],
  });
}

function timeAxis(series) {
  return {
    type: "linear",
    ...timeEnds(series.points.map((point) => point.timestamp)),
    ticks: { color: colour("--quiet"), maxRotation: 0, autoSkip: false, callback: (_, index, ticks) => ticks[index].label },
    grid: { color: colour("--line") },
    afterBuildTicks: (axis) => (axis.ticks = timeTicks(axis.min, axis.max, Math.max(2, axis.chart.width / TICK_WIDTH))),
  };
}

function valueAxis({ share, unit }) {
  const ends = share ? { min: 0, max: 1 } : { beginAtZero: true, grace: "8%" };
  return { ...ends, ticks: { color: colour("--quiet"), maxTicksLimit: 6, callback: UNITS[unit] }, grid: { color: colour("--line") } };
}

const UNITS = {
  rate: (value) => `${Number((value * 100).toFixed(4))} %`,
  difference: (value) => `${value > 0 ? "+" : ""}${Number((value * 100).toFixed(4))} pp`,
  score: (value) => Number(value.toFixed(6)).toString(),
  ms: (value) => `${value.toLocaleString("en")} ms`,
  count: (value) => value.toLocaleString("en"),
  usd: (value) => `$${value.toLocaleString("en", { maximumSignificantDigits: 4 })}`,
};

/** A click on a version shows and hides its line with its intervals. */
function versionLegend({ versions }) {
  return {
    display: versions.length > 1 && versions.length <= MOST_VERSIONS,
    position: "bottom",
    labels: { color: colour("--ink"), usePointStyle: true, filter: (item, { datasets }) => datasets[item.datasetIndex].measured },
    onClick: (_, item, { chart }) => {
      const hide = chart.isDatasetVisible(item.datasetIndex);
      const { version } = chart.data.datasets[item.datasetIndex];
      chart.data.datasets.forEach((each, index) => each.version === version && chart.setDatasetVisibility(index, !hide));
      chart.update();
    },
  };
}

/** Where there is no room for it, the line below the chart says the same. */
function pointTooltip() {
  const [ink, paper] = [colour("--ink"), colour("--paper")];
  return {
    enabled: ({ chart }) => chart.width >= LEAST_WIDTH,
    displayColors: false,
    backgroundColor: ink,
    titleColor: paper,
    bodyColor: paper,
    callbacks: { title: ([it]) => momentText(it.parsed.x), label: ({ raw }) => pointLines(raw.point) },
  };
}

/** What is said of a point, a line each. */
function pointLines(point) {
  return [`${point.shown}${point.interval === null ? "" : ` (${point.interval})`}`, `version ${point.version}`, `run ${point.run}`];
}

/** The measured point that is nearest to the pointer, however far: a thumb needs no aim. */
Chart.Interaction.modes.measured = (chart, { x, y }) => {
  const near = chart.getSortedVisibleDatasetMetas().flatMap(({ index: datasetIndex, data }) =>
    chart.data.datasets[datasetIndex].measured
      ? data.flatMap((element, index) => (element.skip ? [] : [{ element, datasetIndex, index, away: Math.hypot(element.x - x, element.y - y) }]))
      : [],
  );
  return near.length ? [near.reduce((best, each) => (each.away < best.away ? each : best))] : [];
};

/** Vertical lines, each with its label above the chart where there is room for it. */
function markedMoments(annotations) {
  const strokes = { version: "--quiet", benchmark: "--error", note: "--fail" };
  return {
    id: "markedMoments",
    beforeDatasetsDraw({ ctx, chartArea: { left, right, top, bottom }, scales: { x } }) {
      ctx.save();
      Object.assign(ctx, { font: "600 12px system-ui, sans-serif", textBaseline: "bottom", lineWidth: 1.5 });
      ctx.setLineDash([5, 4]);
      let free = left;
      for (const { timestamp, label, kind } of annotations) {
        const at = x.getPixelForValue(timestamp);
        if (at < left || at > right) continue;
        ctx.strokeStyle = ctx.fillStyle = colour(strokes[kind]);
        ctx.beginPath();
        ctx.moveTo(at, top - 4);
        ctx.lineTo(at, bottom);
        ctx.stroke();
        const said = label.length > 28 ? `${label.slice(0, 27)}…` : label;
        const { width } = ctx.measureText(said);
        const start = Math.max(left, Math.min(at - width / 2, right - width));
        if (start < free) continue;
        ctx.fillText(said, start, top - 5);
        free = start + width + 8;
      }
      ctx.restore();
    },
  };
}
