// Draws one figure in the page's colours. Figures lie in the page as JSON, without any colour around the data.

const FONT = getComputedStyle(document.body).fontFamily;

const WHOLE_ASPECT = 1.35;
const WHOLE_HEIGHT = 385;
const NARROW_PX = 600;
const NARROW_TEXT_PX = 9;

async function drawFigure(node) {
  const { data, layout } = contentOf(node);
  if (layout.scene) layout.scene.camera.eye = stepBack(layout.scene.camera.eye, node, 1);
  // On a phone the cells of a map are narrow.
  if (innerWidth < NARROW_PX) for (const trace of data) if (trace.name === "numbers") trace.textfont.size = NARROW_TEXT_PX;
  await Plotly.newPlot(node, data, inTheme(layout), configOf(node));
  performance.mark(`drawn ${node.id}`);
}

// The camera sees a fixed height: in a narrow frame it must stand farther off to see the whole width, and in a low one
// to see the labels, whose size does not shrink.
function stepBack({ x, y, z }, node, before) {
  const { clientWidth: width, clientHeight: height } = node;
  const distance = Math.max(1, WHOLE_ASPECT / (width / height), WHOLE_HEIGHT / height);
  node.dataset.distance = distance;
  const factor = distance / before;
  return { x: x * factor, y: y * factor, z: z * factor };
}

// The figure has another size now; the reader's camera keeps its angle.
async function fitFigure(node) {
  await Plotly.Plots.resize(node);
  const eye = node._fullLayout?.scene?.camera.eye; // a figure of a trial may be gone by now
  if (eye) await Plotly.relayout(node, { "scene.camera.eye": stepBack(eye, node, Number(node.dataset.distance)) });
}

function isLaidOut(node) {
  return Boolean(node.offsetParent);
}

// Draws it again where it stands, with the camera and the zoom that the reader chose.
function restyleFigure(node) {
  return Plotly.react(node, node.data, inTheme(node.layout), configOf(node));
}

// Of a figure that was made on the page, its node holds the content.
function contentOf(node) {
  if (node.content) return node.content;
  return JSON.parse(document.querySelector(`script[data-of="${node.id}"]`).textContent);
}

function inTheme(layout) {
  const { ink, muted, rule, grid, raised } = colours();
  const axis = (given) => ({
    ...given,
    gridcolor: grid,
    linecolor: rule,
    zerolinecolor: rule,
    tickcolor: rule,
    tickfont: { size: 11, color: muted },
    title: { ...given.title, font: { size: 12, color: ink } },
    // Times are long: many of them side by side would be slanted, over the axis's title.
    ...(given.type === "date" && innerWidth < NARROW_PX ? { nticks: 4, tickangle: 0 } : {}),
  });
  const themed = {
    ...layout,
    font: { family: FONT, size: 12, color: ink },
    hoverlabel: { bgcolor: raised, bordercolor: rule, font: { family: FONT, size: 12, color: ink }, align: "left" },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: muted, activecolor: ink },
  };
  // Where nothing hovers, the buttons are always there: they need a line above the legend.
  if (layout.legend && matchMedia("(pointer: coarse)").matches) themed.margin = { ...layout.margin, t: 88 };
  // A title beside the entries takes room that Plotly does not count: on a phone the last entry would be cut.
  if (layout.legend?.title && innerWidth < NARROW_PX) {
    themed.legend = { ...layout.legend, title: { ...layout.legend.title, side: "top" } };
  }
  for (const name of Object.keys(layout)) if (/^[xy]axis\d*$/.test(name)) themed[name] = axis(layout[name]);
  if (layout.scene) {
    const scene = { ...layout.scene };
    for (const name of ["xaxis", "yaxis", "zaxis"]) {
      scene[name] = { ...axis(scene[name]), showbackground: false, showspikes: false, zeroline: false };
    }
    themed.scene = scene;
  }
  return themed;
}

function configOf(node) {
  const save = {
    name: "png",
    title: "Save as PNG",
    icon: Plotly.Icons.camera,
    click: () => saveImage(node, "png"),
  };
  const reset = node.dataset.kind === "surface" ? "resetCameraDefault3d" : "resetScale2d";
  return { responsive: true, displaylogo: false, scrollZoom: false, modeBarButtons: [[save, reset]] };
}
