// A path over time. What is shown stands in the page's address, which can be passed on.

const LISTED_MAX = 400;
const card = document.getElementById("series");
const figure = document.getElementById("figure");
const shows = document.getElementById("show");
const spans = document.getElementById("spans");
const { campaign, sweep, src, dst } = card.dataset;
const nowRunning = document.getElementById("now-running");
let series = null;
let live = []; // of each campaign, by trial: seconds and bits per second

// An address with `to` stays where it is; without it the span ends now, and moves along.
function asked() {
  return new URLSearchParams(location.search);
}

function ask(changes) {
  const query = asked();
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) query.delete(name);
    else query.set(name, typeof value === "number" ? String(Math.round(value)) : value);
  }
  history.pushState(null, "", `?${query}`);
  look();
}

const look = inTurn(async () => {
  // Of a span without an end `last`, its length, stands in the address: the server says what time it is now.
  const query = asked();
  query.set("campaign", campaign);
  try {
    series = await answerOf(`/api/series?${query}`);
  } catch (error) {
    document.getElementById("lede").textContent = `Nothing can be shown for this address (${error.message}).`;
    return;
  }
  render();
  if (series.looks_for_changes) setTimeout(look, 500); // of a long series: the picture does not wait for its marks
}, 300);

function render() {
  const { data, layout } = figureOf(series);
  figure.content = { data, layout };
  figure.dataset.title = `${series.title}, ${src} → ${dst}`;
  document.getElementById("heading").textContent = series.title;
  const config = { responsive: true, displaylogo: false, scrollZoom: false, displayModeBar: false };
  Plotly.react(figure, data, inTheme(layout), config).then(attend);
  tell();
  listRunning();
  listMarks();
  listTrials();
  for (const label of shows.querySelectorAll("label")) {
    const input = label.querySelector("input");
    label.hidden = !series.offered.includes(input.value) && input.value !== series.show;
    input.checked = input.value === series.show;
  }
  for (const button of spans.querySelectorAll("button")) {
    button.ariaPressed = String(Math.abs(lengthOf(button) - (series.to - series.from)) < 2);
  }
  const query = new URLSearchParams({ campaign, sweep, src, dst, from: series.from, to: series.to });
  document.getElementById("report").href = `/report?${query}`;
}

// The length of a span; that of all is from the first trial to the last.
function lengthOf(button) {
  if (button.dataset.seconds !== "all") return Number(button.dataset.seconds);
  return series.first === null ? NaN : series.latest_end - series.first + 60;
}

let attended = false;

function attend() {
  if (attended) return;
  attended = true;
  figure.on("plotly_click", ({ points }) => {
    if (points[0].customdata) location.assign(trialAddress(points[0].customdata));
  });
  figure.on("plotly_relayout", (change) => {
    const [from, to] = ["xaxis.range[0]", "xaxis.range[1]"].map((name) => change[name]);
    if (from && to) ask({ last: null, from: secondsOf(from), to: secondsOf(to) });
  });
}

function secondsOf(text) {
  return Date.parse(`${String(text).replace(" ", "T")}Z`) / 1000;
}

function trialAddress(trial) {
  return `/trial/${campaign}/${trial}#trial-${trial}`;
}

function tell() {
  const span = `${momentOf(series.from)} to ${momentOf(series.to)} UTC`;
  const some = series.failures.length < series.failed ? `, of which the last ${series.failures.length} are drawn` : "";
  const bad = series.failed ? `, ${series.failed} of them failed or incomplete${some}` : "";
  document.getElementById("lede").textContent = `${span}: ${counted(series.trials, "trial")}${bad}.`;
  const many = series.lines.some((line) => line.count.some((count) => count > 1));
  const said = [];
  if (series.band) said.push(`The band is the ${series.band}.`);
  if (many) said.push("Each value is the median of the trials of a short time, the band their outermost ends.");
  said.push("A point leads to its trial. Grey: missed. Dashed: a note. Dotted: the level changes there, as alarms find it.");
  document.getElementById("caption").textContent = said.join(" ");
}

// Trials of this path that run now, each with what it carries second by second.
function listRunning() {
  const shown = asked().has("to") ? [] : series.running; // a span that is over has none
  nowRunning.replaceChildren(...shown.map((running) => {
    const line = made("div", "", "running");
    line.append(made("p", `Running now, since ${momentOf(running.began)} UTC: `));
    line.dataset.trial = running.trial;
    line.dataset.campaign = campaign;
    line.dataset.seconds = running.seconds ?? "";
    drawLive(line, live);
    return line;
  }));
}

const lookAtLive = inTurn(async () => {
  const answer = await answerOf("/api/live").catch(() => null);
  if (!answer) return;
  live = answer.campaigns;
  for (const line of nowRunning.children) drawLive(line, live);
}, 250);

function listMarks() {
  const notes = series.notes.map((note) => [note.at, `Note: ${note.text}`]);
  const changes = series.changes.map((change) => {
    const of = series.names[change.point] ? ` (${series.names[change.point]})` : "";
    return [change.at, `${series.title}${of} changes from ${inUnit(change.was, series.unit)} to ${inUnit(change.now, series.unit)}: ${change.better ? "better" : "worse"}${change.until ? `, until ${momentOf(change.until)} UTC` : ""}`];
  });
  const missed = series.missed.map((one) => [one.from, `Missed ${counted(one.count, "time")}: ${one.reason}`]);
  const all = [...notes, ...changes, ...missed].sort(([one], [other]) => one - other);
  document.getElementById("marks").hidden = !all.length;
  document.getElementById("mark-list").replaceChildren(...all.map(([at, text]) => {
    const line = made("li");
    line.append(made("time", `${momentOf(at)} UTC`), ` ${text}`);
    return line;
  }));
}

// The same as the figure, for whoever does not see it or has no pointer: the newest trials first.
function listTrials() {
  const lines = series.lines.flatMap((line) => line.began.map((began, at) => line.count[at] && ({
    began, trial: line.trial[at], point: series.names[line.point], count: line.count[at],
    text: inUnit(line.value[at], series.unit),
    band: line.low[at] === null && line.high[at] === null ? "" : `${inUnit(line.low[at], series.unit)} to ${inUnit(line.high[at], series.unit)}`,
  })).filter(Boolean));
  const failed = series.failures.map((one) => ({ ...one, text: one.status, band: "", count: 1, point: "" }));
  const all = [...lines, ...failed].sort((one, other) => other.began - one.began);
  const points = series.lines.length > 1;
  const table = document.getElementById("trials");
  const heads = ["Began, UTC", series.title, "Interval", ...(points ? ["Point"] : []), "Trial"];
  const head = made("tr");
  head.append(...heads.map((name) => { const cell = made("th", name, "plain-head"); cell.scope = "col"; return cell; }));
  table.tHead.replaceChildren(head);
  table.tBodies[0].replaceChildren(...all.slice(0, LISTED_MAX).map((one) => {
    const row = made("tr");
    const link = made("a", one.trial);
    link.href = trialAddress(one.trial);
    const last = made("td");
    last.append(link, one.count > 1 ? ` and ${one.count - 1} more` : "");
    row.append(made("td", momentOf(one.began)), made("td", one.text), made("td", one.band), ...(points ? [made("td", one.point)] : []), last);
    return row;
  }));
  document.getElementById("shown").textContent = all.length > LISTED_MAX
    ? `The newest ${LISTED_MAX} of ${all.length} values that are drawn.` : counted(all.length, "value");
}

shows.addEventListener("change", (event) => ask({ show: event.target.value }));
spans.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button && series) ask({ from: null, to: null, last: Math.ceil(lengthOf(button)) || 86400 });
});
document.getElementById("earlier").addEventListener("click", () => move(-1));
document.getElementById("later").addEventListener("click", () => move(1));

function move(sign) {
  if (!series) return;
  const step = (series.to - series.from) / 2;
  ask({ last: null, from: Math.max(0, series.from + sign * step), to: series.to + sign * step });
}

// A link shows for ever what is shown now, as far as it is measured.
document.getElementById("copy").addEventListener("click", async (event) => {
  if (!series) return;
  const query = asked();
  query.delete("last");
  // What was asked for a moment ago may not be shown yet: it counts nevertheless.
  const span = query.has("to") ? {} : { from: series.from, to: series.to };
  for (const [name, value] of Object.entries({ campaign, show: query.get("show") ?? series.show, ...span })) query.set(name, value);
  const address = `${location.origin}${location.pathname}?${query}`;
  history.replaceState(null, "", `?${query}`);
  let said = "Copied";
  try {
    await navigator.clipboard.writeText(address);
  } catch {
    said = "In the address bar"; // Without HTTPS a browser lets no page write to the clipboard.
  }
  event.target.textContent = said;
  setTimeout(() => { event.target.textContent = "Copy link"; }, 2000);
});

addEventListener("popstate", look);
watchSaving();
watchTheme(document.getElementById("theme"), () => { if (figure._fullLayout) Plotly.react(figure, figure.data, inTheme(figure.content.layout)); });
look();
setInterval(() => { if (!asked().has("to")) look(); }, 30000);
lookAtLive();
listen((event) => {
  if (event !== null && String(event.campaign) !== campaign) return;
  if (event?.what !== "live" && !asked().has("to")) look();
  if (!event || event.what === "live") lookAtLive();
});
