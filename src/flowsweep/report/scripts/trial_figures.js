// Figures of one trial over its time, made from compact data: whole numbers in steps of a quantum.

// The colours of all figures, the last of them grey; where there are more flows, steps of Viridis that are seen on
// a white page and on a black one.
const FLOW_COLOURS = document.body.dataset.colours.split(" ");
const MANY_FLOW_COLOURS = [
  "#37598c", "#33628d", "#306a8e", "#2d728e", "#2a798e", "#26818e", "#24898d", "#22918b",
  "#20998a", "#21a187", "#28a883", "#2eaf7e", "#34b679", "#44bd70", "#54c467", "#65ca5d",
];
const MOST_IN_LEGEND = 8;

// One card for each panel, in order.
function trialCards(id, { flows, panels }) {
  return panels.map((panel, index) => trialCard(`trial-${id}-${index}`, panel, flows));
}

function trialCard(name, panel, flows) {
  const card = document.getElementById("trial-card").content.cloneNode(true).firstElementChild;
  const file = `${name.replace(/-\d+$/, "")}-${panel.title.replaceAll(/[^A-Za-z0-9]+/g, "-").toLowerCase()}`;
  const plot = card.querySelector(".plot");
  const heading = panel.title[0].toUpperCase() + panel.title.slice(1);
  card.querySelector("h5").textContent = heading;
  card.querySelector(".card__caption").textContent = panel.caption;
  card.querySelector("[data-enlarge]").setAttribute("aria-label", `Enlarge ${panel.title}`);
  plot.id = `plot-of-${file}`;
  plot.dataset.title = `${heading}, trial ${name.split("-")[1]}`;
  plot.dataset.file = file;
  plot.setAttribute("aria-label", `Figure: ${panel.title}`);
  plot.content = { data: traces(panel, flows), layout: layoutOf(panel) };
  for (const button of card.querySelectorAll("[data-save]")) button.dataset.of = plot.id;
  const link = card.querySelector("a");
  link.href = `data:text/csv;charset=utf-8,${encodeURIComponent(csvOf(panel, flows))}`;
  link.download = `${file}.csv`;
  return card;
}

function traces(panel, flows) {
  const { lines, quantum, unit } = panel;
  const colours = flows.length <= FLOW_COLOURS.length ? FLOW_COLOURS : spread(MANY_FLOW_COLOURS, flows.length);
  const drawn = lines.flatMap((line) => flows.map((flow, index) => ({
    type: "scatter",
    mode: "lines",
    name: flows.length > 1 ? `flow ${flow}` : line.name || panel.title,
    legendgroup: `flow ${flow}`,
    showlegend: flows.length > 1 ? line === lines[0] && flows.length <= MOST_IN_LEGEND : lines.length > 1,
    x: line.values[index].map((_, step) => timeOf(line, step)),
    y: line.values[index].map((value) => (value === null ? null : value * quantum)),
    line: { color: lines.length > 1 && flows.length === 1 ? FLOW_COLOURS[lines.indexOf(line)] : colours[index],
      width: 1.5, dash: line.dash, shape: unit === "segments" ? "hvh" : "linear" },
    hovertemplate: `<b>%{y:.4~r} ${unit}</b>${line.name ? ` ${line.name}` : ""}<br>flow ${flow}, %{x:.3~f} s<extra></extra>`,
  })));
  if (flows.length === 1 || lines.length === 1) return drawn;
  // What is drawn how, once for all flows.
  const styles = lines.map((line) => ({
    type: "scatter", mode: "lines", name: line.name, x: [null], y: [null],
    line: { color: FLOW_COLOURS.at(-1), width: 2, dash: line.dash },
  }));
  return [...drawn, ...styles];
}

function spread(colours, count) {
  return Array.from({ length: count }, (_, index) => colours[Math.round((index * (colours.length - 1)) / (count - 1))]);
}

function layoutOf({ unit }) {
  return {
    template: "none",
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    margin: { l: 58, r: 12, t: 30, b: 44 },
    hovermode: "closest",
    legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" },
    xaxis: { title: { text: "time, s", standoff: 8 }, zeroline: false },
    yaxis: { title: { text: unit, standoff: 8 }, rangemode: "tozero", nticks: 6 },
  };
}

function timeOf(line, step) {
  return Number((line.first_s + step * line.step_s).toPrecision(9));
}

function csvOf({ title, unit, quantum, lines }, flows) {
  const rows = lines.flatMap((line) => flows.flatMap((flow, index) => line.values[index].map((value, step) => (
    [timeOf(line, step), flow, line.name || title, value === null ? "" : Number((value * quantum).toPrecision(4))].join(",")
  ))));
  return ["time_s,flow,quantity,value_in_" + unit.replaceAll("/", "_per_"), ...rows, ""].join("\n");
}

// All figures of a trial have one axis of time: to zoom into one is to zoom into all.
function joinTimes(plots) {
  let following = false;
  for (const plot of plots) {
    plot.on("plotly_relayout", async (change) => {
      const changed = Object.keys(change).some((name) => name.startsWith("xaxis."));
      if (following || !changed) return;
      following = true;
      const { range, autorange } = plot.layout.xaxis;
      const wanted = autorange ? { "xaxis.autorange": true } : { "xaxis.range": [...range] };
      await Promise.all(plots.filter((other) => other !== plot).map((other) => Plotly.relayout(other, wanted)));
      following = false;
    });
  }
}
