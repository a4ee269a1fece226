// A path over time. What is shown stands in the page's address, which can be passed on.

const LISTED_MAX = 400;
const card = document.getElementById("series");
const figure = document.getElementById("figure");
const shows = document.getElementById("show");
const spans = document.getElementById("spans");
const { campaign, sweep, src, dst } = card.dataset;
const lede = document.getElementById("lede");
const nowRunning = document.getElementById("now-running");
const LAST_EDGE_S = 1; // a span that ends so close to the latest end goes on with it
const AGAIN_MIN_MS = 1000;
const AGAIN_MAX_MS = 60000;
const SHORTEST_S = 0.01; // of a span
const TELL_OF_BEFORE = new Set(["settled", "summed", "missed", "note"]); // events that may be of a span that is over
let series = null;
let againMs = AGAIN_MIN_MS;
let again; // asks once more where nothing answered

// An address with `to` stays where it is; without it the span ends now, and moves along.
function asked() {
  return new URLSearchParams(location.search);
}

// Whether the span that is asked for is past, by the server's clock when it answered last. It may still become known
// what happened in it: a note is written down later, a trial that began in it is settled and summed up.
function isOver() {
  const to = asked().get("to");
  return series !== null && to !== null && Number(to) <= series.now;
}

function ask(changes) {
  const query = asked();
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) query.delete(name);
    else query.set(name, typeof value === "number" ? Number(value.toFixed(3)) : value);
  }
  history.pushState(null, "", `?${query}`);
  look();
}

// A span up to the latest end has a length, and no end: it moves along.
function askSpan(from, to) {
  if (to >= series.latest_end - LAST_EDGE_S) ask({ from: null, to: null, last: to - from });
  else ask({ last: null, from, to });
}

const look = inTurn(async () => {
  // Of a span without an end `last`, its length, stands in the address: the server says what time it is now.
  const query = asked();
  query.set("campaign", campaign);
  try {
    series = await answerOf(`/api/series?${query}`);
  } catch (error) {
    sayWhy(error);
    return;
  }
  clearTimeout(again);
  againMs = AGAIN_MIN_MS;
  render();
  if (series.looks_for_changes) setTimeout(look, 500); // of a long series: the picture does not wait for its marks
}, 300);

// An address that is refused stays refused; a server that does not answer may come back.
function sayWhy(error) {
  clearTimeout(again);
  if (error.status >= 400 && error.status < 500) {
    lede.textContent = `Nothing can be shown for this address (${error.message}).`;
    return;
  }
  const before = series ? " What stands below is what it said before." : "";
  lede.textContent = `The server does not answer. It is asked again.${before}`;
  again = setTimeout(look, againMs);
  againMs = Math.min(AGAIN_MAX_MS, 2 * againMs);
}

function render() {
  const { data, layout } = figureOf(series, ["from", "to", "last", "show"].map((name) => asked().get(name)).join());
  figure.content = { data, layout };
  figure.dataset.title = `${series.title}, ${src} → ${dst}`;
  figure.dataset.file = [src, dst, series.show].join("-").replaceAll(/[^A-Za-z0-9._-]+/g, "-");
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
    button.ariaPressed = String(isShown(button.dataset.seconds));
  }
  const query = new URLSearchParams({ campaign, sweep, src, dst, from: series.from, to: series.to });
  document.getElementById("report").href = `/report?${query}`;
}

// Whether a span is of this length, in seconds; `all` is a length of its own, which grows.
function isShown(length) {
  const query = asked();
  if (query.get("last") === "all" && !query.has("from")) return length === "all";
  return Math.abs(Number(length) - (series.to - series.from)) < 2;
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
    if (from && to) askSpan(secondsOf(from), Math.max(secondsOf(to), secondsOf(from) + SHORTEST_S));
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
  lede.textContent = `${span}: ${counted(series.trials, "trial")}${bad}.`;
  const many = series.lines.some((line) => line.count.some((count) => count > 1));
  const said = [];
  if (series.band) said.push(`The band is the ${series.band}.`);
  if (many) said.push("Each value is the median of the trials of a short time, the band their outermost ends.");
  said.push("A point leads to its trial. Grey: missed. Dashed: a note. Dotted: the level changes there, as alarms find it.");
  document.getElementById("caption").textContent = said.join(" ");
}

// Trials of this path that run now, each with what it carries second by second.
function listRunning() {
  const shown = isOver() ? [] : series.running;
  renew(nowRunning, shown.map((running) => {
    const line = made("div", "", "running");
    line.append(made("p", `Running now, since ${momentOf(running.began)} UTC: `));
    line.dataset.trial = running.trial;
    line.dataset.campaign = campaign;
    line.dataset.seconds = running.seconds ?? "";
    drawLive(line);
    return line;
  }));
}

function listMarks() {
  const notes = series.notes.map((note) => [note.at, `Note: ${note.text}`]);
  const changes = series.changes.map((change) => {
    const of = series.names[change.point] ? ` (${series.names[change.point]})` : "";
    return [change.at, `${series.title}${of} changes from ${inUnit(change.was, series.unit)} to ${inUnit(change.now, series.unit)}: ${change.better ? "better" : "worse"}${change.until ? `, until ${momentOf(change.until)} UTC` : ""}`];
  });
  const missed = series.missed.map((one) => [one.from, `Missed ${counted(one.count, "time")}: ${one.reason}`]);
  const all = [...notes, ...changes, ...missed].sort(([one], [other]) => one - other);
  document.getElementById("marks").hidden = !all.length;
  renew(document.getElementById("mark-list"), all.map(([at, text]) => {
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
  const points = hasNames(series);
  const table = document.getElementById("trials");
  const heads = ["Began, UTC", series.title, "Interval", ...(points ? ["Point"] : []), "Trial"];
  const head = made("tr");
  head.append(...heads.map((name) => { const cell = made("th", name, "plain-head"); cell.scope = "col"; return cell; }));
  renew(table.tHead, [head]);
  renew(table.tBodies[0], all.slice(0, LISTED_MAX).map((one) => {
    const row = made("tr");
    const link = made("a", one.trial);
    link.href = trialAddress(one.trial);
    const last = made("td");
    last.append(link, one.count > 1 ? ` and ${one.count - 1} more` : "");
    row.append(made("td", momentOf(one.began)), made("td", one.text), made("td", one.band), ...(points ? [made("td", one.point)] : []), last);
    return row;
  }));
  const bad = failed.length ? `, ${counted(failed.length, "trial")} that failed or ${failed.length === 1 ? "is" : "are"} incomplete` : "";
  const some = all.length > LISTED_MAX ? `. Listed are the newest ${LISTED_MAX} of these` : "";
  document.getElementById("shown").textContent = `${counted(lines.length, "value")}${bad}${some}.`;
}

shows.addEventListener("change", (event) => ask({ show: event.target.value }));
spans.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button && series) ask({ from: null, to: null, last: button.dataset.seconds });
});
document.getElementById("earlier").addEventListener("click", () => move(-1));
document.getElementById("later").addEventListener("click", () => move(1));

function move(sign) {
  if (!series) return;
  const step = (series.to - series.from) / 2;
  const to = Math.min(series.to + sign * step, series.latest_end);
  askSpan(Math.max(0, to - 2 * step), to);
}

// A link shows for ever what is shown now, as far as it is measured; the page itself goes on as it was.
document.getElementById("copy").addEventListener("click", async (event) => {
  if (!series) return;
  const query = asked();
  // What was asked for a moment ago may not be shown yet: it counts nevertheless.
  const span = query.has("to") ? {} : { from: series.from, to: series.to };
  if (span.to) query.delete("last");
  for (const [name, value] of Object.entries({ campaign, show: query.get("show") ?? series.show, ...span })) query.set(name, value);
  const address = `${location.origin}${location.pathname}?${query}`;
  let said = "Copied";
  try {
    await navigator.clipboard.writeText(address);
  } catch {
    // Without HTTPS a browser lets no page write to the clipboard. A page whose address has an end does not move along.
    history.replaceState(null, "", `?${query}`);
    said = span.to ? "In the address bar: this page stands still now" : "In the address bar";
  }
  event.target.textContent = said;
  setTimeout(() => { event.target.textContent = "Copy link"; }, said === "Copied" ? 2000 : 8000);
});

addEventListener("popstate", look);
watchSaving();
watchTheme(document.getElementById("theme"), () => { if (figure._fullLayout) Plotly.react(figure, figure.data, inTheme(figure.content.layout)); });
look();
setInterval(() => { if (!isOver() || series.waiting) look(); }, 30000);
lookAtLive();
listen((event) => {
  if (event !== null && event.campaign !== campaign) return;
  if (!event || (isOver() ? TELL_OF_BEFORE.has(event.what) : event.what !== "live")) look();
  if (!event || event.what === "live") lookAtLive();
});
