// Small curves: of the last values of a path, and of a trial that runs.

const CURVE = { width: 132, height: 30 };
const SVG = "http://www.w3.org/2000/svg";

// From zero, so that a small change looks small. Points: how far to the right, from 0 to 1, and the value.
function svgOf(width, height, points) {
  const top = Math.max(...points.map(([, value]) => value)) * 1.08 || 1;
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("width", width);
  svg.setAttribute("height", height);
  svg.setAttribute("class", "curve");
  svg.setAttribute("role", "img");
  const places = points.map(([share, value]) => [4 + share * (width - 8), height - 3 - (height - 8) * value / top]);
  if (!places.length) return svg;
  const line = document.createElementNS(SVG, "polyline");
  line.setAttribute("points", places.map((one) => one.map((part) => part.toFixed(1)).join(",")).join(" "));
  const last = document.createElementNS(SVG, "circle");
  last.setAttribute("cx", places.at(-1)[0]);
  last.setAttribute("cy", places.at(-1)[1]);
  last.setAttribute("r", 3);
  svg.append(line, last);
  return svg;
}

let live = {}; // by the campaign's address and trial: seconds and bits per second

const lookAtLive = inTurn(async () => {
  const answer = await answerOf("/api/live").catch(() => null);
  if (!answer) return;
  live = answer.campaigns;
  for (const line of document.querySelectorAll(".running")) drawLive(line);
}, 250);

// What a trial carries, as soon as it says so, in place of what was drawn before.
function drawLive(line) {
  const points = live[line.dataset.campaign]?.[line.dataset.trial];
  if (!points?.length) return;
  const seconds = Math.max(Number(line.dataset.seconds), points.at(-1)[0], 1);
  const svg = svgOf(CURVE.width * 2, CURVE.height * 1.6, points.map(([at, rate]) => [at / seconds, rate]));
  svg.dataset.points = points.length;
  svg.setAttribute("aria-label", `Goodput within this trial, ${points.length} values so far`);
  const last = made("span", inUnit(points.at(-1)[1], "bit/s"), "live-value");
  line.querySelector(".live-value")?.remove();
  line.querySelector("svg")?.remove();
  line.append(svg, last);
}
