// The effect of an Agent Skill: bars around 0, and a table of tasks to sort.

startTheme(() => {});
drawDifferences();
sortableRows(byId("task-table"));
offerExports();
performance.mark("interactive");
