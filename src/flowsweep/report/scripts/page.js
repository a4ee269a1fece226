// Brings the page to life: figures are drawn when they come into view.

const drawn = new Set();
const outdated = new Set(); // drawn, in colours that are no longer the page's

// Behind the page of a trial a figure has no size, and Plotly would draw it with one of its own: it waits until it
// comes into view again.
function drawFlat(node) {
  if (!isLaidOut(node)) return undefined;
  if (drawn.has(node)) return outdated.delete(node) ? restyleFigure(node) : undefined;
  drawn.add(node);
  return drawFigure(node);
}

// One after the other: the first is on the screen before the next begins.
const waiting = new Set();
let drawing = false;
async function drawWaiting() {
  if (drawing) return;
  drawing = true;
  for (const node of waiting) {
    waiting.delete(node);
    try {
      await drawFlat(node);
    } catch (error) {
      reportError(error);
    }
    await new Promise((next) => setTimeout(next));
  }
  drawing = false;
}

const inView = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) waiting.add(entry.target);
  drawWaiting();
}, { rootMargin: "600px 0px" });
const flat = [...document.querySelectorAll('.plot[data-kind="flat"]')];
for (const node of flat) inView.observe(node);

const surfaces = new Surfaces(document.querySelectorAll('.plot[data-kind="surface"]'));
const table = document.getElementById("trial-table");
const viewer = new Viewer(document.getElementById("viewer"));
const trialPage = table && new TrialPage(table, viewer);

watchSaving();

function restyleAll(how) {
  for (const node of drawn) outdated.add(node);
  for (const node of drawn) drawFlat(node);
  surfaces.restyle(how);
  trialPage?.restyle();
}

watchTheme(document.getElementById("theme"), () => restyleAll());

// Paper is light, and shows what was never scrolled to.
let themeOnScreen;
addEventListener("beforeprint", () => {
  themeOnScreen = root.dataset.theme;
  root.dataset.theme = "light";
  flat.forEach(drawFlat);
  restyleAll({ onPaper: true });
});
addEventListener("afterprint", () => {
  if (themeOnScreen) root.dataset.theme = themeOnScreen;
  else delete root.dataset.theme;
  restyleAll({ onPaper: true });
});

if (table) watchTable(table, document.getElementById("filter"), document.getElementById("shown"));
