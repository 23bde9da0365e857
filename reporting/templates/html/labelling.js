// What a person says of an answer: pass, fail or a comment, kept in the store by the server behind the page.

const LABELS = { pass: "✓ pass", fail: "✗ fail" };

/**
 * What is said of an answer, and where a server is behind the page, buttons to say it.
 * `answer` is {run, skill, benchmark, task, run_index}; `now` is {label, comment, by, at} or undefined.
 */
function labelling(answer, now, live) {
  const place = element("div", { className: "labelling", role: "group", ariaLabel: "What a person says of this answer" });
  let given = now;
  const send = async (label, comment) => {
    say.textContent = "saving …";
    try {
      const sent = await fetch("labels", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ ...answer, label, comment }) });
      const text = await sent.text();
      if (!sent.ok) throw new Error(text.trim());
      given = JSON.parse(text);
      draw();
    } catch (error) {
      say.textContent = `not saved: ${error.message}`;
    }
  };
  const say = element("small", { role: "status" });
  const comment = element("input", { type: "text", maxLength: 4000, ariaLabel: "Comment", placeholder: "comment ( m )", autocomplete: "off" });
  comment.addEventListener("change", () => send(given?.label ?? null, comment.value));
  const buttons = Object.entries(LABELS).map(([label, text]) => {
    const button = element("button", { type: "button", className: `say ${label}` }, text);
    button.dataset.label = label;
    button.addEventListener("click", () => send(given?.label === label ? null : label, given?.comment ?? null));
    return button;
  });
  const draw = () => {
    for (const button of buttons) button.setAttribute("aria-pressed", String(given?.label === button.dataset.label));
    comment.value = given?.comment ?? "";
    const said = given && (given.label || given.comment) ? `${given.by}, ${given.at.slice(0, 16).replace("T", " ")} UTC` : "";
    say.textContent = live ? said : [given?.label && LABELS[given.label], given?.comment, said].filter(Boolean).join(" · ");
  };
  place.append(...(live ? [...buttons, comment] : []), say);
  draw();
  place.hidden = !live && say.textContent === "";
  return { element: place, answer, press: (label) => buttons.find((each) => each.dataset.label === label).click(), comment: () => comment.focus() };
}

/** Keys that say it of the answer that the reader is at: where the focus is, else the first that can be seen. */
function labellingKeys(all) {
  const current = () => {
    const shown = all().filter((each) => each.element.isConnected);
    const focused = shown.find((each) => each.element.parentElement.contains(document.activeElement));
    return focused ?? shown.find((each) => each.element.getBoundingClientRect().bottom > 0) ?? shown[0];
  };
  onKey("p", "say that this answer passes, or take that back", () => current()?.press("pass"));
  onKey("f", "say that this answer fails, or take that back", () => current()?.press("fail"));
  onKey("m", "write a comment on this answer", () => current()?.comment());
}
