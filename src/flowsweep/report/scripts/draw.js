// Draws one figure in the page's colours. Figures lie in the page as JSON, without any colour around the data.

const FONT = getComputedStyle(document.body).fontFamily;

const WHOLE_ASPECT = 1.35;
const WHOLE_HEIGHT = 385;

function drawFigure(node) {
  const { data, layout } = contentOf(node);
  if (layout.scene) layout.scene.camera.eye = stepBack(layout.scene.camera.eye, node);
  return Plotly.newPlot(node, data, inTheme(layout), configOf(node));
}

// The camera sees a fixed height: in a narrow frame it must stand farther off to see the whole width, and in a low one
// to see the labels, whose size does not shrink.
function stepBack({ x, y, z }, node) {
  const { clientWidth: width, clientHeight: height } = node;
  const factor = Math.max(1, WHOLE_ASPECT / (width / height), WHOLE_HEIGHT / height);
  return { x: x * factor, y: y * factor, z: z * factor };
}

// Draws it again where it stands, with the camera and the zoom that the reader chose.
function restyleFigure(node) {
  return Plotly.react(node, node.data, inTheme(node.layout), configOf(node));
}

function contentOf(node) {
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
  });
  const themed = {
    ...layout,
    font: { family: FONT, size: 12, color: ink },
    hoverlabel: { bgcolor: raised, bordercolor: rule, font: { family: FONT, size: 12, color: ink }, align: "left" },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: muted, activecolor: ink },
  };
  // Where nothing hovers, the buttons are always there: they need a line above the legend.
  if (layout.legend && matchMedia("(pointer: coarse)").matches) themed.margin = { ...layout.margin, t: 88 };
  if (layout.xaxis) themed.xaxis = axis(layout.xaxis);
  if (layout.yaxis) themed.yaxis = axis(layout.yaxis);
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
    click: (drawn) => saveImage(drawn, node.dataset),
  };
  const reset = node.dataset.kind === "surface" ? "resetCameraDefault3d" : "resetScale2d";
  return { responsive: true, displaylogo: false, scrollZoom: false, modeBarButtons: [[save, reset]] };
}

// On the page the heading stands outside the figure; a picture takes it along, and a background.
function saveImage(drawn, { title, file }) {
  const { page, ink } = colours();
  const margin = { ...drawn.layout.margin, t: (drawn.layout.margin.t || 0) + 44 };
  const heading = { text: plain(title), x: 0.02, xanchor: "left", y: 0.97, yanchor: "top", font: { size: 16, color: ink } };
  const layout = { ...drawn.layout, title: heading, margin, paper_bgcolor: page };
  const picture = { format: "png", filename: file, width: 900, height: 620, scale: 2 };
  return Plotly.downloadImage({ data: drawn.data, layout }, picture);
}

// Plotly reads tags in a title.
function plain(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
