// Runs that are going on: how far they are, from the server behind the page. What has ended is shown by loading the page anew.

const RELOAD_MS = 5000;

function duration(seconds) {
  if (seconds === null) return UNKNOWN;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  return whole < 3600 ? `${Math.floor(whole / 60)} min ${whole % 60} s` : `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/**
 * Draw at `place` the runs that are going on, or only `wanted`, also where it was left; when one has ended or begun, or `wanted` has
 * more to show, load again as soon as that disturbs nobody. `running` are the runs that the page shows as such; `isDue`: it shows what
 * will soon be another.
 */
function watchRuns(place, { wanted, running, isDue = false }) {
  let [known, shown] = [running?.join(), undefined];
  const loaded = Date.now();
  const hear = (event) => {
    const runs = JSON.parse(event.data).filter((run) => (wanted === undefined ? run.is_running : run.run === wanted));
    place.hidden = runs.length === 0;
    place.replaceChildren(...runs.map(liveRun));
    const names = runs.map((run) => run.run).join();
    const done = runs.reduce((sum, run) => sum + run.done, 0);
    isDue ||= known !== undefined && (names !== known || (wanted !== undefined && done !== shown));
    [known, shown] = [names, shown ?? done];
  };
  let source;
  const listen = () => {
    source?.close();
    if (document.visibilityState !== "visible") return; // a browser keeps few connections to a server: many tabs would leave none
    source = new EventSource("live");
    source.addEventListener("message", hear);
  };
  listen();
  document.addEventListener("visibilitychange", listen);
  addEventListener("pagehide", () => source?.close());
  addEventListener("pageshow", (event) => event.persisted && location.reload()); // by the back button, as it was long ago
  setInterval(() => isDue && isIdle() && Date.now() - loaded > RELOAD_MS && location.reload(), 1000);
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
    `${run.passed.toLocaleString("en")} passed, ${run.failed.toLocaleString("en")} failed, ${plural(run.errors, "error")}`,
    ...(run.is_running ? [run.rate === null ? "no item lately" : `${run.rate.toFixed(1)} items/s`, `${duration(run.left_s)} left`] : [run.stopped === null ? "interrupted" : `stopped: ${run.stopped}`]),
    ...(run.cost_usd === null || run.done === 0 ? [] : [`${dollars(run.cost_usd)} so far`]),
  ];
  return element("p", { className: "live-run" }, element("a", { href: `run-${run.run}.html` }, run.run), bar, element("span", {}, parts.join(" · ")));
}
