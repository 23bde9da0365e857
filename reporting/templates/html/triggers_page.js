// The triggers of an Agent Skill: a bar for each load rate, and a table of queries to sort.

startTheme(() => {});
for (const bar of document.querySelectorAll(".interval")) {
  drawInterval(bar, Object.fromEntries(Object.entries(bar.dataset).map(([name, value]) => [name, Number(value)])));
}
sortableRows(byId("query-table"));
offerExports();
performance.mark("interactive");
