// A page of tables, and nothing else.

const shown = JSON.parse(byId("data").textContent);
const tables = [...document.querySelectorAll(".data-table")].map((place, index) => dataTable(place, shown.tables[index]));

onKey("/", "search", () => tables[0]?.search.focus());
startKeys();
startTheme(() => {});
performance.mark("interactive");
