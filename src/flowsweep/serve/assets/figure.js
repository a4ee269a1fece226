// From the answer of /api/series to a figure: lines with bands, and marks of what happened beside them.

const SYMBOLS = ["circle", "square", "diamond", "triangle-up", "cross", "x", "star"];
const PALETTE = document.body.dataset.colours.split(" ");
const NAMES_MAX = 24;

// Asked: what stands for the address; a legend stays as the reader set it while that is the same.
function figureOf(series, asked) {
  const { factor, unit } = scaleOf(series);
  const data = [];
  series.lines.forEach((line, index) => data.push(...tracesOf(series, line, index, factor, unit)));
  if (series.failures.length) data.push(failuresOf(series));
  return { data, layout: layoutOf(series, factor, unit, asked) };
}

// Whether a curve needs a name: where the path has several points, whichever of them are in this span.
function hasNames(series) {
  return series.names.length > 1;
}

// The unit that suits the highest value.
function scaleOf(series) {
  const highest = Math.max(0, ...series.lines.flatMap((line) => line.value.map((value, index) => line.high[index] ?? value)));
  if (series.unit === "s") return highest < 1 ? { factor: 1e-3, unit: "ms" } : { factor: 1, unit: "s" };
  if (series.unit === "share") return { factor: 0.01, unit: "%" };
  const [factor, letter] = STEPS.find(([least]) => highest >= least) ?? [1, ""];
  return { factor, unit: `${letter}${series.unit}` };
}

function tracesOf(series, line, index, factor, unit) {
  const colour = PALETTE[line.point % PALETTE.length];
  const times = line.began.map(dateOf);
  const scaled = (values) => values.map((value) => (value === null ? null : value / factor));
  const name = series.names[line.point] || series.title;
  const many = line.count.some((count) => count > 1);
  const curve = {
    type: "scatter",
    uid: `curve-${line.point}`,
    mode: line.began.length > 400 ? "lines" : "lines+markers",
    name: plain(name),
    legendgroup: String(line.point),
    legendrank: 1000 + series.ranks[line.point], // 1000 is Plotly's usual one
    showlegend: hasNames(series) && index < NAMES_MAX,
    x: times,
    y: scaled(line.value),
    line: { color: colour, width: 1.6 },
    marker: { color: colour, size: 6, symbol: SYMBOLS[line.point % SYMBOLS.length] },
    customdata: line.trial,
    text: line.began.map((began, at) => (line.count[at] ? hoverOf(series, line, at, name, many) : "")),
    hovertemplate: "%{text}<extra></extra>",
  };
  const known = line.low.some((low) => low !== null) || line.high.some((high) => high !== null);
  return known ? [...bandOf(line, times, colour, factor), curve] : [curve];
}

// A band for each piece of the line: what is filled goes on over a gap.
function bandOf(line, times, colour, factor) {
  const common = { type: "scatter", mode: "lines", line: { width: 0 }, legendgroup: String(line.point), showlegend: false, hoverinfo: "skip" };
  return piecesOf(line).flatMap(([from, to], piece) => {
    const edge = (ends) => line.value.slice(from, to).map((value, index) => (ends[from + index] ?? value) / factor);
    const x = times.slice(from, to);
    return [
      { ...common, uid: `low-${line.point}-${piece}`, x, y: edge(line.low) },
      { ...common, uid: `high-${line.point}-${piece}`, x, y: edge(line.high), fill: "tonexty", fillcolor: `${colour}38` },
    ];
  });
}

// Where each piece of a line begins, and where it is over.
function piecesOf(line) {
  const ends = [...line.count.keys()].filter((at) => line.count[at] === 0);
  return [-1, ...ends].map((end, index) => [end + 1, ends[index] ?? line.count.length]);
}

function hoverOf(series, line, at, name, many) {
  const said = [`<b>${inUnit(line.value[at], series.unit)}</b>`];
  if (line.low[at] !== null || line.high[at] !== null) said.push(`from ${inUnit(line.low[at], series.unit)} to ${inUnit(line.high[at], series.unit)}`);
  if (hasNames(series)) said.push(plain(name));
  said.push(`${momentOf(line.began[at])} UTC`);
  if (many && line.count[at] > 1) said.push(`median of ${line.count[at]} trials: a shorter span shows each`);
  return said.join("<br>");
}

function failuresOf(series) {
  return {
    type: "scatter",
    uid: "failures",
    mode: "markers",
    name: "failed or incomplete",
    x: series.failures.map((one) => dateOf(one.began)),
    y: series.failures.map(() => 0),
    marker: { symbol: "x", size: 9, color: PALETTE[1] },
    customdata: series.failures.map((one) => one.trial),
    text: series.failures.map((one) => `${one.status}<br>${momentOf(one.began)} UTC`),
    hovertemplate: "%{text}<extra></extra>",
    cliponaxis: false,
  };
}

function layoutOf(series, factor, unit, asked) {
  const shapes = [];
  const annotations = [];
  for (const one of series.missed) {
    const from = Math.max(one.from, series.from);
    const to = Math.min(Math.max(one.to, one.from + (series.to - series.from) / 400), series.to);
    shapes.push({ type: "rect", xref: "x", yref: "paper", x0: dateOf(from), x1: dateOf(to), y0: 0, y1: 1, layer: "below", line: { width: 0 }, fillcolor: "rgba(128,128,128,0.22)" });
  }
  series.notes.forEach((note, index) => mark(dateOf(note.at), "dash", note.text, index));
  series.changes.forEach((change, index) => {
    const more = change.now > change.was;
    // Of a share the change is no percentage of what it was, which may be nothing.
    const size = series.unit === "share" || !(change.was > 0)
      ? `${inUnit(change.was, series.unit)} → ${inUnit(change.now, series.unit)}`
      : `${threeDigits(Math.abs(change.now / change.was - 1) * 100)} %`;
    mark(dateOf(change.at), "dot", `${more ? "▲" : "▼"} ${size}`, index + series.notes.length);
  });
  function mark(x, dash, text, index) {
    shapes.push({ type: "line", xref: "x", yref: "paper", x0: x, x1: x, y0: 0, y1: 1, line: { width: 1.2, dash, color: "#7A828A" } });
    const short = text.length > 34 ? `${text.slice(0, 32)} …` : text;
    // Near the right edge it would be cut.
    const [xanchor, xshift] = Date.parse(`${x}Z`) / 1000 > series.from + 0.6 * (series.to - series.from) ? ["right", -3] : ["left", 3];
    annotations.push({ x, xref: "x", yref: "paper", y: 1 - 0.075 * (index % 4), text: plain(short), showarrow: false, xanchor, yanchor: "top", xshift, font: { size: 11 } });
  }
  return {
    template: "none",
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    margin: { l: 58, r: 12, t: hasNames(series) ? 54 : 20, b: 48 },
    autosize: true,
    uirevision: asked,
    hovermode: "closest",
    showlegend: hasNames(series),
    ...(hasNames(series) ? { legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: { size: 11 } } } : {}),
    xaxis: { type: "date", range: [dateOf(series.from), dateOf(series.to)], title: { text: "time, UTC", standoff: 8 } },
    yaxis: { title: { text: `${series.title}, ${unit}`, standoff: 8 }, rangemode: "tozero", nticks: 6, fixedrange: true },
    shapes,
    annotations,
  };
}

function dateOf(seconds) {
  return new Date(seconds * 1000).toISOString().replace("Z", "");
}
