// What the reader chose stands in the address, after what is shown: #skill=adder@1.0.0&tasks.show=fail&matrix.page=2

const CHOICES = /^(ranking|matrix|places|tasks|flips)\./;

const addressed = () => new URLSearchParams(location.hash.slice(1));
const choiceOf = (name) => addressed().get(name) ?? "";

function addressOf(asked) {
  const parts = [...asked].map(([name, value]) => `${name}=${encodeURIComponent(value).replaceAll("%40", "@").replaceAll("%3A", ":")}`);
  return parts.length ? `#${parts.join("&")}` : "";
}

/** Write choices into the address, without a step in the history; one that is "" is the usual one, and not written. */
function keepChoices(choices) {
  const asked = addressed();
  for (const [name, value] of Object.entries(choices)) {
    if (value === "") asked.delete(name);
    else asked.set(name, value);
  }
  history.replaceState(null, "", addressOf(asked) || location.pathname + location.search);
}

/** An address within this page with the present choices; one that filters tasks itself, or by nothing, keeps none of their filters. */
function carried(hash) {
  const asked = new URLSearchParams(hash.slice(1));
  const filters = [...asked.keys()].some((name) => name.startsWith("tasks."));
  for (const [name, value] of addressed()) {
    if (CHOICES.test(name) && !(filters && name.startsWith("tasks."))) asked.set(name, value);
  }
  return addressOf([...asked].filter(([, value]) => value !== ""));
}

/** Links within this page take the choices along; `followed(link)` is told of each before the address changes. */
function carryChoices(followed) {
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#skill="]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    followed(link);
    const wanted = carried(link.getAttribute("href"));
    if (wanted === location.hash) dispatchEvent(new HashChangeEvent("hashchange"));
    else location.hash = wanted;
  });
}

/** A table whose order is a choice; `follow()` of what is returned takes it from the address, "" being the order as made. */
function sortableByAddress(table, name, reorder) {
  const titles = [...table.tHead.rows[0].cells].map((header) => header.textContent.trim());
  let shown = "";
  const show = sortable(table, (column, direction) => {
    shown = `${direction < 0 ? "-" : ""}${titles[column]}`;
    keepChoices({ [`${name}.sort`]: shown });
    reorder(column, direction);
  });
  const follow = () => {
    const wanted = choiceOf(`${name}.sort`);
    if (wanted === shown) return;
    shown = wanted;
    const column = titles.indexOf(wanted.replace(/^-/, ""));
    if (column >= 0) show(column, wanted.startsWith("-") ? -1 : 1);
    else show(null, 1);
  };
  return { follow };
}
