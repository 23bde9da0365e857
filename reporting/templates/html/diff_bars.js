// The interval of a difference as a bar around 0. All bars of the page have one scale, so that they can be compared by eye.

/** Differences lie in [-scale, scale]; what the bar says stands in words beside it. */
function drawDifference(bar, { at, lower, upper, margin, scale }) {
  const share = (value) => (Math.max(-scale, Math.min(scale, value)) / scale + 1) / 2;
  const part = (className, from, to) => {
    const made = element("span", { className });
    made.style.left = `${share(from) * 100}%`;
    if (to !== undefined) made.style.width = `${(share(to) - share(from)) * 100}%`;
    return made;
  };
  const side = lower > 0 ? " gain" : upper < 0 ? " loss" : "";
  bar.replaceChildren(part("strip-none", -margin, margin), part(`range${side}`, lower, upper), part("zero", 0), part("point", at));
  bar.setAttribute("aria-hidden", "true");
}

function drawDifferences() {
  for (const bar of document.querySelectorAll(".difference")) {
    drawDifference(bar, Object.fromEntries(Object.entries(bar.dataset).map(([name, value]) => [name, Number(value)])));
  }
}
