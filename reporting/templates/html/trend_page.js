// The page: a chart and a table per benchmark.

const trend = JSON.parse(byId("data").textContent);
const redraws = [...document.querySelectorAll(".series")].map((section, index) => {
  const series = trend.series[index];
  section.querySelector(".chart").hidden = false;
  section.querySelector(".reading").hidden = false;
  sortableRows(section.querySelector("table"));
  return readable(section, series, (canvas, read) => drawTrend(canvas, trend, series, read));
});
const redraw = () => redraws.forEach((each) => each());

startTheme(redraw);
redraw();
performance.mark("interactive");
