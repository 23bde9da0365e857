// A run of which no item has ended yet: the page is loaded again when one has.

const shown = JSON.parse(byId("data").textContent);
startKeys();
startTheme(() => {});
if (shown.live) watchRuns(byId("live"), { wanted: location.pathname.match(/run-(.*)\.html$/)?.[1] });
performance.mark("interactive");
