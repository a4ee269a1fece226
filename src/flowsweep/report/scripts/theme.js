// Light or dark: the system's choice until the reader makes one.

const root = document.documentElement;
const darkSystem = matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  return root.dataset.theme ? root.dataset.theme === "dark" : darkSystem.matches;
}

// The colours of the style sheet as Plotly understands them. A custom property itself is not resolved, a colour is.
function colours() {
  const probe = document.createElement("span");
  document.body.append(probe);
  const resolved = {};
  for (const name of ["ink", "muted", "rule", "grid", "page", "raised"]) {
    probe.style.color = `var(--${name})`;
    resolved[name] = getComputedStyle(probe).color;
  }
  probe.remove();
  return resolved;
}

// Calls `changed` whenever the theme is another one.
function watchTheme(button, changed) {
  const show = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    changed();
  };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    show();
  });
  darkSystem.addEventListener("change", show);
  button.textContent = isDark() ? "Light" : "Dark";
}
