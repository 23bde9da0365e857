// Runs that are going on: how far they are, from the server behind the page. What has ended is shown by loading the page anew.

const RELOAD_MS = 5000;

function duration(seconds) {
  if (seconds === null) return UNKNOWN;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  return whole < 3600 ? `${Math.floor(whole / 60)} min ${whole % 60} s` : `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** Draw at `place` the runs that are going on, or only `wanted`; when one has ended, or `wanted` has more to show, load again. */
function watchRuns(place, wanted) {
  let known;
  let [loaded, shown] = [Date.now(), undefined];
  const source = new EventSource("live");
  source.addEventListener("message", (event) => {
    const runs = JSON.parse(event.data).filter((run) => wanted === undefined || run.run === wanted);
    place.hidden = runs.length === 0;
    place.replaceChildren(...runs.map(liveRun));
    const names = runs.map((run) => run.run).join();
    const done = runs.reduce((sum, run) => sum + run.done, 0);
    const changed = known !== undefined && (names !== known || (wanted !== undefined && done !== shown));
    [known, shown] = [names, shown ?? done];
    if (changed && isIdle() && Date.now() - loaded > RELOAD_MS) location.reload();
  });
  addEventListener("pagehide", () => source.close());
}

/** Whether loading the page again takes nothing out of the reader's hands. */
function isIdle() {
  const busy = document.activeElement?.closest("input, select, textarea, dialog") || document.querySelector("dialog[open], input:checked");
  return !busy && document.visibilityState === "visible" && getSelection().isCollapsed;
}

function liveRun(run) {
  const share = run.planned ? Math.min(1, run.done / run.planned) : undefined;
  const bar = element("progress", { max: 1, ariaLabel: `Progress of run ${run.run}`, ...(share === undefined ? {} : { value: share }) });
  const parts = [
    `${run.done.toLocaleString("en")} of ${run.planned === null ? UNKNOWN : run.planned.toLocaleString("en")} items`,
    `${run.passed.toLocaleString("en")} passed, ${run.failed.toLocaleString("en")} failed, ${run.errors.toLocaleString("en")} errors`,
    ...(run.is_running ? [run.rate === null ? "no item lately" : `${run.rate.toFixed(1)} items/s`, `${duration(run.left_s)} left`] : ["interrupted"]),
    ...(run.cost_usd === null ? [] : [`$${run.cost_usd.toFixed(4)} so far`]),
  ];
  return element("p", { className: "live-run" }, element("a", { href: `run-${run.run}.html` }, run.run), bar, element("span", {}, parts.join(" · ")));
}
