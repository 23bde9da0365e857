// Reading a chart without a mouse: the arrow keys go from point to point, and what a point says stands below the chart.

/** The keys and the line of text of one chart; `draw(read)` draws it, now and whenever `redraw` is called. */
function readable(section, series, draw) {
  const canvas = section.querySelector("canvas");
  const line = section.querySelector(".reading");
  const known = series.points.filter((point) => point.value !== null);
  let chart = null;
  let now = known.length - 1;
  const read = (point) => {
    now = known.indexOf(point);
    const said = [momentText(point.timestamp), ...pointLines(point)].join(" · ");
    line.replaceChildren(said, ...(point.page === undefined ? [] : [" ", element("a", { href: point.page }, "Open the run")]));
    canvas.setAttribute("aria-valuenow", now + 1);
    canvas.setAttribute("aria-valuetext", said);
  };
  canvas.setAttribute("aria-valuemin", 1);
  canvas.setAttribute("aria-valuemax", Math.max(1, known.length));
  canvas.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && known[now]?.page !== undefined) location.assign(known[now].page);
    const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, Home: -known.length, End: known.length };
    if (!(event.key in steps) || event.altKey || event.ctrlKey || event.metaKey || known.length === 0) return;
    event.preventDefault();
    read(known[Math.max(0, Math.min(known.length - 1, now + steps[event.key]))]);
    pointAt(chart, known[now]);
  });
  if (known.length) read(known[now]);
  return () => {
    chart?.destroy();
    chart = draw(canvas, read);
  };
}

/** Show the tooltip of a point, as if the mouse were there. */
function pointAt(chart, point) {
  const datasetIndex = chart.data.datasets.findIndex((each) => each.measured && each.version === point.version);
  const index = chart.data.datasets[datasetIndex].data.findIndex((each) => each.point === point);
  const active = chart.isDatasetVisible(datasetIndex) ? [{ datasetIndex, index }] : [];
  chart.setActiveElements(active);
  chart.tooltip.setActiveElements(active, { x: 0, y: 0 });
  chart.update();
}
