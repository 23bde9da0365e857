// The keys of a page: each is said once, here it works, and `?` lists them all.

const keys = [];

/** Let a key do something, unless the reader is typing; `name` is how the list shows it. */
function onKey(key, says, act, name = key) {
  keys.push({ key, says, act, name });
}

function startKeys() {
  const dialog = byId("keys");
  onKey("?", "list the keys", () => dialog.showModal());
  byId("keys-open").addEventListener("click", () => dialog.showModal());
  byId("keys-close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  byId("keys-list").replaceChildren(...keys.map(({ name, says }) => element("div", {}, element("dt", {}, element("kbd", {}, name)), element("dd", {}, says))));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, dialog")) return;
    const found = keys.find(({ key }) => key === event.key);
    if (!found) return;
    event.preventDefault();
    found.act();
  });
}
