// What a chart of a trend is made of: per version a line with its points, the band and the bars of its intervals.

const LINES = 6; // colours in the style sheet
const SHAPES = ["circle", "rectRot", "triangle", "rect"];
const SIZE = { circle: 4, rectRot: 5.5, triangle: 5.5, rect: 4.5 };

/** Each dataset knows its `version`; those with `measured` hold what can be pointed at, and stand in the legend. */
function trendDatasets(series) {
  const lines = series.versions.flatMap((version, index) => versionDatasets(series, version, index));
  return series.successive && series.versions.length > 1 ? [...lines, passage(series)] : lines;
}

function versionDatasets(series, version, index) {
  const points = series.points.filter((point) => point.version === version);
  const ink = colour(`--line-${(index % LINES) + 1}`);
  const bare = { version, pointRadius: 0, borderWidth: 0, order: 3 };
  const line = { version, label: version, measured: true, data: placed(points, "value"), order: 1, ...looks(ink, index) };
  if (!points.some((point) => point.interval !== null)) return [line];
  return [
    line,
    { ...bare, label: "lower", data: placed(points, "lower") },
    { ...bare, label: "upper", data: placed(points, "upper"), fill: "-1", backgroundColor: faint(ink, 0.14) },
    { ...bare, label: "bars", data: bars(points), borderWidth: 1.5, borderColor: faint(ink, 0.5) },
  ];
}

function looks(ink, index) {
  const pointStyle = SHAPES[index % SHAPES.length];
  const pointRadius = SIZE[pointStyle];
  const pointHoverRadius = pointRadius + 3;
  return { borderColor: ink, backgroundColor: ink, borderWidth: 2, pointStyle, pointRadius, pointHoverRadius, clip: false };
}

const placed = (points, name) => points.map((point) => ({ x: point.timestamp, y: point[name], point }));

/** A vertical stroke per interval: up, then a gap. A lone point has no band to be seen. */
function bars(points) {
  return points.flatMap(({ timestamp: x, lower, upper }) => [{ x, y: lower }, { x, y: upper }, { x, y: null }]);
}

/** From version to version, where one followed the other. */
function passage(series) {
  const look = { borderColor: faint(colour("--quiet"), 0.6), borderWidth: 1, borderDash: [4, 4], pointRadius: 0, order: 2 };
  return { label: "passage", data: placed(series.points, "value"), ...look };
}

function faint(ink, share) {
  return Chart.helpers.color(ink).alpha(share).rgbString();
}
