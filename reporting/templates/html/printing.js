// Printing: paper has no buttons, so what a click would show is shown while the page is printed, and put back afterwards.

const STEPS_OF_PRINTING = { colours: 0, copies: 1, rows: 2, rest: 3 }; // each works on what those before it left
const printing = { openers: [], undo: [] };
const isPrinting = () => printing.undo.length > 0;

/** `open()` shows what is hidden behind a click, for paper; what it returns puts that back. */
function whenPrinted(step, open) {
  printing.openers.push({ order: STEPS_OF_PRINTING[step], open });
}

/** Everything folded is opened; the statement behind a table is for the screen, and stays folded. */
function unfold() {
  const folded = [...document.querySelectorAll("details:not([open], .sql)")];
  for (const each of folded) each.open = true;
  return () => folded.forEach((each) => (each.open = false));
}

/** The filters that are set, in words: `12 of 40 tasks; filter: Show “with an error”, Search “42”`. undefined where none is. */
function filterLine(form) {
  const set = [...form.querySelectorAll("label:not(.choice)")].flatMap((label) => {
    const field = label.querySelector("select, input");
    const value = field.matches("select") ? (field.selectedIndex > 0 ? field.selectedOptions[0].textContent : "") : field.value.trim();
    return value === "" ? [] : [`${label.firstChild.textContent.trim()} “${value}”`];
  });
  const count = form.querySelector("output")?.textContent ?? "";
  return set.length && count ? element("p", { className: "printed filter-line" }, `${count}; filter: ${set.join(", ")}`) : undefined;
}

/** A filter stays a filter on paper, where nobody sees the field it was set in. */
function sayFilters() {
  const forms = [...document.querySelectorAll("form.filters")].filter((form) => !form.hidden && !form.closest(".on-screen, .printed"));
  const lines = forms.flatMap((form) => {
    const line = filterLine(form);
    if (line) form.after(line);
    return line ? [line] : [];
  });
  return () => lines.forEach((line) => line.remove());
}

/** Heads without their buttons: Chromium does not repeat the head of a table on the next sheet if there is a button in it. */
function plainHeads() {
  const focused = document.activeElement;
  const buttons = [...document.querySelectorAll("th > .sort")].map((button) => ({ button, head: button.parentElement, says: [...button.childNodes] }));
  for (const { button, says } of buttons) button.replaceWith(...says);
  return () => {
    for (const { button, head, says } of buttons) {
      button.append(...says);
      head.append(button);
    }
    if (focused?.matches(".sort")) focused.focus({ preventScroll: true });
  };
}

const PAPER = { width: 680, sharpness: 2.5 }; // px of a chart across a sheet of A4, and dots to each of them

/** A chart at the width of the paper: a canvas keeps the pixels that the screen gave it. */
function fitToPaper(chart) {
  chart.options.devicePixelRatio = PAPER.sharpness;
  chart.resize(PAPER.width, chart.height || 272);
}

function fitCharts() {
  if (typeof Chart === "undefined") return () => {};
  const charts = Object.values(Chart.instances);
  for (const chart of charts) fitToPaper(chart);
  return () =>
    charts.forEach((chart) => {
      if (!chart.attached) return; // drawn anew meanwhile
      chart.options.devicePixelRatio = undefined;
      chart.resize();
    });
}

for (const open of [unfold, sayFilters, plainHeads, fitCharts]) whenPrinted("rest", open);
addEventListener("beforeprint", () => {
  if (isPrinting()) return;
  for (const { open } of printing.openers.toSorted((a, b) => a.order - b.order)) printing.undo.push(open());
});
addEventListener("afterprint", () => {
  while (printing.undo.length) printing.undo.pop()();
});
