// Saves a figure as a picture. On the page the heading stands outside the figure; a picture takes it along, and a
// background.

const PICTURE = { width: 960, height: 640 };

function watchSaving() {
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-save]");
    if (button) saveImage(document.getElementById(button.dataset.of), button.dataset.save);
  });
}

// As the reader sees it now, or as it would be drawn if it was not scrolled to yet.
function saveImage(node, format) {
  const given = node._fullData ? node : contentOf(node);
  const { page, ink } = colours();
  const themed = inTheme(given.layout);
  const heading = { text: plain(node.dataset.title), x: 0.02, xanchor: "left", y: 0.975, yanchor: "top", font: { size: 16, color: ink } };
  const layout = {
    ...themed,
    title: heading,
    margin: { ...themed.margin, t: (themed.margin?.t || 0) + 44 },
    paper_bgcolor: page,
    autosize: false,
  };
  const scale = format === "svg" ? 1 : 2;
  return Plotly.downloadImage({ data: given.data, layout }, { format, filename: node.dataset.file, ...PICTURE, scale });
}

// Plotly reads tags in a title.
function plain(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
