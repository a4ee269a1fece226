// The overview: what runs now with its last values as a curve, a matrix of each sweep, and all paths as a list.

const LISTED_MAX = 300;

const show = document.getElementById("show");
const find = document.getElementById("find");
const alerts = document.getElementById("alerts");
const oldness = made("span"); // of what is shown while the server does not answer
oldness.ariaLive = "off";
const place = document.getElementById("campaigns");
let found = null;
let readAt = 0;
let silent = false; // whether the last question had no answer

const asked = new URLSearchParams(location.search);
const chosen = show.querySelector(`input[value="${CSS.escape(asked.get("show") ?? "")}"]`);
if (chosen) chosen.checked = true;
find.value = asked.get("find") ?? "";

for (const input of [show, find]) {
  input.addEventListener("input", () => {
    const query = new URLSearchParams();
    if (shown() !== "goodput") query.set("show", shown());
    if (find.value) query.set("find", find.value);
    history.replaceState(null, "", String(query) ? `?${query}` : location.pathname);
    render();
  });
}

function shown() {
  return show.querySelector("input:checked").value;
}

function now() {
  return found.now + (performance.now() - readAt) / 1000;
}

const look = inTurn(async () => {
  const answer = await answerOf("/api/overview").catch(() => null);
  silent = answer === null;
  if (!silent) [found, readAt] = [answer, performance.now()];
  render();
}, 250);

function render() {
  if (!found) return; // something was chosen before the first answer came: it will count then
  const focused = focusedLink();
  const frames = [...place.querySelectorAll(".scroll")];
  const focusedFrame = frames.indexOf(document.activeElement);
  const scrolled = frames.map((frame) => frame.scrollLeft);
  tellTroubles();
  place.replaceChildren(...found.campaigns.map((one) => campaignOf(one, one.address)));
  place.querySelectorAll(".scroll").forEach((frame, index) => { frame.scrollLeft = scrolled[index] ?? 0; });
  if (found.campaigns.length === 1) document.getElementById("title").textContent = found.campaigns[0].name;
  // Who went through the page with the keyboard stays where they were.
  if (focused) place.querySelector(focused)?.focus({ preventScroll: true });
  if (focusedFrame >= 0) place.querySelectorAll(".scroll")[focusedFrame]?.focus({ preventScroll: true });
}

// A path has up to three links: where it runs, in the matrix, in the list.
function focusedLink() {
  const link = document.activeElement?.closest("#campaigns a");
  const part = link && [".running", ".matrix", ".paths"].find((one) => link.closest(one));
  return link && `${part} a[href="${CSS.escape(link.getAttribute("href"))}"]`;
}

// A screen reader says an alert whenever its text is set: only another text is, and an age that grows is none.
function tellTroubles() {
  const said = [...(silent ? ["The server does not answer: what stands here is "] : []), ...found.campaigns.flatMap(troublesOf)];
  if (alerts.dataset.said !== said.join("\n")) {
    alerts.dataset.said = said.join("\n");
    alerts.hidden = !said.length;
    alerts.replaceChildren(...said.map((text) => made("p", text, "empty")));
    if (silent) alerts.firstChild.append(oldness, " old.");
  }
  oldness.textContent = ageOf((performance.now() - readAt) / 1000);
}

function troublesOf(campaign) {
  const of = found.campaigns.length > 1 ? `${campaign.name}: ` : "";
  const said = [];
  if (campaign.problem) said.push(`${of}This archive cannot be read now: ${campaign.problem}`);
  if (campaign.not_summed) said.push(`${of}A trial could not be summed up: ${campaign.not_summed}`);
  if (campaign.not_summed_now) said.push(`${of}Trials wait to be summed up, which is tried again: ${campaign.not_summed_now}`);
  return said;
}

function campaignOf(campaign, number) {
  const section = made("section", "", "of-campaign");
  section.id = `campaign-${number}`;
  if (found.campaigns.length > 1) section.append(made("h2", campaign.name));
  section.append(stateOf(campaign));
  for (const running of campaign.running) section.append(runningOf(campaign, number, running));
  const paths = matching(campaign.paths);
  const sweeps = [...new Set(paths.map((path) => path.sweep))];
  for (const sweep of sweeps) {
    section.append(matrixOf(number, sweep, paths.filter((path) => path.sweep === sweep), shown(), now()));
  }
  if (!paths.length) section.append(made("p", campaign.paths.length ? "No path has that in its name." : "No path is known yet.", "empty"));
  else section.append(legend(), listOf(number, paths));
  return section;
}

function matching(paths) {
  const terms = termsOf(find.value);
  const textOf = (path) => `${path.sweep}\n${path.src} → ${path.dst}`.toLowerCase();
  return paths.filter((path) => terms.every((term) => holds(textOf(path), term)));
}

function stateOf(campaign) {
  const line = made("p", "", "state");
  const state = campaign.runs ? "runs" : campaign.succeeded ? "goes on in another archive" : "does not run";
  line.append(made("span", state, `badge ${campaign.runs ? "badge--no-practical-effect" : "badge--described"}`));
  const said = Object.entries(campaign.trials).map(([status, count]) => `${count} ${status}`);
  line.append(said.length ? `trials: ${said.join(", ")}` : "no trial has been settled yet");
  if (campaign.missed) line.append(` · ${counted(campaign.missed, "time")} missed`);
  if (campaign.waiting) line.append(` · ${counted(campaign.waiting, "trial")} still to be summed up`);
  return line;
}

function runningOf(campaign, number, running) {
  const line = made("div", "", "running");
  const since = now() - running.began;
  const path = campaign.paths.find((one) => ["sweep", "src", "dst"].every((name) => one[name] === running[name]));
  const said = made("p", "Running now: ");
  if (path) {
    const link = made("a", `${running.src} → ${running.dst}`);
    link.href = addressOf(number, path, "goodput");
    said.append(link, `, sweep ${running.sweep}, `);
  } else said.append(running.src ? `${running.src} → ${running.dst}, sweep ${running.sweep}, ` : `trial ${running.trial}, `);
  const clock = made("span", `for ${ageOf(since)}`);
  clock.dataset.since = running.began;
  said.append(clock, running.seconds ? ` of about ${ageOf(running.seconds)}` : "");
  line.append(said);
  line.dataset.trial = running.trial;
  line.dataset.campaign = number;
  line.dataset.seconds = running.seconds ?? "";
  if (path?.spark) line.append(curveOf(path, CURVE.width * 2, CURVE.height * 1.6));
  drawLive(line);
  return line;
}

function legend() {
  const line = made("p", "", "note");
  line.textContent = "A stronger tint is a higher value. ✕ the last trial failed, of a sweep with several points one of the last · ◑ it is incomplete · ◷ overdue: not measured for longer than the plan says. "
    + "Of a sweep with several points: the highest goodput, the lowest round-trip time, the most loss.";
  return line;
}

function listOf(number, paths) {
  const frame = made("div", "", "scroll");
  frame.tabIndex = 0;
  frame.role = "region";
  frame.ariaLabel = "Paths";
  const table = made("table", "", "paths");
  const head = table.createTHead().insertRow();
  for (const name of ["Path", "Sweep", "Goodput", "RTT", "Loss", "Limited by", "Measured", "Last values"]) {
    const cell = made("th", name, ["Goodput", "RTT", "Loss", "Measured"].includes(name) ? "number" : "");
    cell.scope = "col";
    head.append(cell);
  }
  const body = table.createTBody();
  for (const path of paths.slice(0, LISTED_MAX)) body.append(lineOf(number, path));
  frame.append(table);
  const whole = made("div");
  whole.append(frame);
  if (paths.length > LISTED_MAX) whole.append(made("p", `${LISTED_MAX} of ${paths.length} paths; Find shows others.`, "note"));
  return whole;
}

function lineOf(number, path) {
  const row = made("tr");
  const name = made("th");
  name.scope = "row";
  const link = made("a", `${path.src} → ${path.dst}`);
  link.href = addressOf(number, path, shown());
  name.append(link);
  row.append(name, made("td", path.sweep));
  for (const key of ["goodput", "rtt", "loss"]) row.append(made("td", inUnit(path[key]?.[0], UNITS[key]), "number"));
  row.append(made("td", path.verdict ?? ""));
  const trouble = troubleOf(path);
  const at = measuredAt(path, shown());
  const age = made("td", at === null ? "never" : `${ageOf(now() - at)} ago`, "number");
  if (trouble) age.append(made("span", `${trouble[0]} ${trouble[1]}`, "trouble"));
  const curve = made("td");
  if (path.spark) curve.append(curveOf(path, CURVE.width, CURVE.height));
  row.append(age, curve);
  return row;
}

function curveOf(path, width, height) {
  const values = path.spark.filter((value) => value !== null);
  const svg = svgOf(width, height, values.map((value, index) => [index / Math.max(1, values.length - 1), value]));
  svg.setAttribute("aria-label", `Last ${values.length} values of ${path.src} to ${path.dst}`);
  return svg;
}

// What runs counts its seconds without asking anybody.
setInterval(() => {
  if (!found) return;
  for (const clock of place.querySelectorAll("[data-since]")) clock.textContent = `for ${ageOf(now() - Number(clock.dataset.since))}`;
}, 1000);

watchTheme(document.getElementById("theme"), () => {});
look();
lookAtLive();
listen((event) => {
  if (event?.what !== "live") look();
  if (!event || event.what === "live") lookAtLive();
});
// Ages grow, and paths become overdue, also where nothing happens.
setInterval(look, 30000);
