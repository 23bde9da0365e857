// Long lists: the first rows, and more on demand; all of them on paper.

const paged = new Map(); // by the button below the rows: how many of them are shown, and what shows more

/** Show the first `first` rows, and `page` more or all on demand; `place` is where the rows go, `more` the button below them. */
function showPaged(place, more, rows, page, make, first = page) {
  const list = { shown: 0 };
  const all = more.nextElementSibling ?? element("button", { type: "button", className: "more" });
  if (!all.isConnected) more.after(" ", all);
  const show = (count) => {
    const made = rows.slice(list.shown, list.shown + count).map(make);
    place.append(...made);
    list.shown += made.length;
    more.hidden = list.shown === rows.length;
    const left = rows.length - list.shown;
    more.textContent = `Show ${Math.min(page, left)} more of ${left.toLocaleString("en")}`;
    all.hidden = left <= page;
    all.textContent = `Show all ${rows.length.toLocaleString("en")}`;
    return made;
  };
  list.showAll = () => {
    const before = list.shown;
    const made = show(rows.length - before);
    return () => {
      for (const row of made) row.remove();
      list.shown = before;
      show(0);
    };
  };
  place.replaceChildren();
  more.onclick = () => show(page);
  all.onclick = () => show(rows.length);
  paged.set(more, list);
  show(first);
}

whenPrinted("rows", () => {
  for (const more of paged.keys()) if (!more.isConnected) paged.delete(more);
  const undo = [...paged].filter(([more]) => !more.closest(".on-screen")).map(([, list]) => list.showAll());
  return () => undo.forEach((each) => each());
});
