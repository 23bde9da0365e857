// Moments on an axis, always in UTC: ticks at whole minutes, hours, days, weeks, months or years. Moments are ms since 1970.

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];
const MONDAY = 4 * DAY; // the first one of 1970, so that ticks of a week apart are Mondays
const STEPS = [1, 5, 15, 30].map((each) => each * SECOND).concat(
  [1, 5, 15, 30].map((each) => each * MINUTE),
  [1, 3, 6, 12].map((each) => each * HOUR),
  [1, 2, 7, 14].map((each) => each * DAY),
);
const MONTHS = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 6000, 12_000];

/** At most about `most` ticks from `low` to `high`, each with its label. */
function timeTicks(low, high, most) {
  const step = STEPS.find((each) => (high - low) / each <= most);
  const values = step ? evenTicks(low, high, step) : monthTicks(low, high, most);
  return values.map((value, index) => ({ value, label: tickLabel(value, step ?? 28 * DAY, values[index - 1]) }));
}

function evenTicks(low, high, step) {
  const first = Math.ceil((low - MONDAY) / step) * step + MONDAY;
  return Array.from({ length: Math.max(0, Math.floor((high - first) / step) + 1) }, (_, index) => first + index * step);
}

function monthTicks(low, high, most) {
  const step = MONTHS.find((each) => (high - low) / (each * 30.4 * DAY) <= most) ?? MONTHS.at(-1);
  const from = new Date(low);
  const first = Math.ceil((from.getUTCFullYear() * 12 + from.getUTCMonth()) / step) * step;
  const values = [];
  for (let month = first; startOfMonth(month) <= high; month += step) {
    if (startOfMonth(month) >= low) values.push(startOfMonth(month));
  }
  return values;
}

/** The first moment of a month that is counted from the year 0; years below 100 are themselves, not of the 20th century. */
function startOfMonth(month) {
  return new Date(0).setUTCFullYear(Math.floor(month / 12), month % 12, 1);
}

/** Hours name their day where it begins to differ from the tick before; what is longer than a day has no hours. */
function tickLabel(value, step, before) {
  const [day, time] = new Date(value).toISOString().split("T");
  if (step >= 28 * DAY) return day.slice(0, -3);
  if (step >= DAY) return day;
  const clock = time.slice(0, step < MINUTE ? 8 : 5);
  const sameDay = before !== undefined && Math.floor(before / DAY) === Math.floor(value / DAY);
  return sameDay ? [clock] : [clock, day];
}

/** A moment as people read it: `2026-11-21 23:38:24 UTC`. */
function momentText(value) {
  return `${new Date(value).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** The ends of an axis around these moments, with room for the first and the last point. */
function timeEnds(moments) {
  const low = moments.reduce((least, each) => Math.min(least, each));
  const high = moments.reduce((most, each) => Math.max(most, each));
  const room = high > low ? (high - low) * 0.04 : HOUR;
  return { min: low - room, max: high + room };
}
