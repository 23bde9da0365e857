// The page: a chart and a table per benchmark.

const trend = JSON.parse(byId("data").textContent);
const redraws = [...document.querySelectorAll(".series")].flatMap((section, index) => {
  const series = trend.series[index];
  section.querySelector(".chart").hidden = false;
  section.querySelector(".reading").hidden = false;
  sortableRows(section.querySelector("table"));
  const places = [...section.querySelectorAll(".figure")];
  const further = places.flatMap((place, which) => {
    const figure = series.further[which];
    place.hidden = figure === null;
    return figure === null ? [] : [readable(place, figure, (canvas, read) => drawTrend(canvas, figure, figure, read))];
  });
  return [readable(section, series, (canvas, read) => drawTrend(canvas, trend, series, read)), ...further];
});
const redraw = () => redraws.forEach((each) => each());

offerExports();
startTheme(redraw);
redraw();
performance.mark("interactive");
