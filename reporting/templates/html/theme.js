// Light and dark: what the system says, until the reader says otherwise. Private windows forget the choice.

const THEMES = { auto: "◐ Auto", light: "☀ Light", dark: "☾ Dark" };

function startTheme(changed) {
  const button = byId("theme");
  const show = (theme) => {
    document.documentElement.dataset.theme = theme;
    button.textContent = THEMES[theme];
    button.setAttribute("aria-label", `Colours: ${theme}. Change`);
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    const names = Object.keys(THEMES);
    const next = names[(names.indexOf(document.documentElement.dataset.theme) + 1) % names.length];
    show(next);
    rememberTheme(next);
    changed();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => isPrinting() || changed());
  whenPrinted("colours", () => {
    const { theme } = document.documentElement.dataset;
    const put = (name) => {
      document.documentElement.dataset.theme = name;
      changed();
    };
    put("light"); // paper is white, whatever the screen is
    return () => put(theme);
  });
  show(rememberedTheme());
}

function rememberedTheme() {
  try {
    const theme = localStorage.getItem("eval-skills-theme");
    return Object.hasOwn(THEMES, theme) ? theme : "auto";
  } catch {
    return "auto";
  }
}

function rememberTheme(theme) {
  try {
    localStorage.setItem("eval-skills-theme", theme);
  } catch {
    // Storage is off: the choice lasts as long as the page.
  }
}

/** A colour of the style sheet as it looks in the present theme; a canvas does not know the names of the sheet. */
function colour(name) {
  const probe = document.documentElement;
  probe.style.color = `var(${name})`;
  const { color } = getComputedStyle(probe);
  probe.style.color = "";
  return color;
}
