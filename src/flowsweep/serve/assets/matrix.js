// The mesh of a sweep as a table: a row for each source, a column for each sink, a cell for each path.

const SHADES = 5;
const APART = 1.25;

// Units of what a cell shows; age is none of the quantities that are measured.
const UNITS = { goodput: "bit/s", rtt: "s", loss: "share", capacity: "bit/s" };

function valueOf(path, show, now) {
  if (show === "age") return path.good === null ? null : now - path.good;
  return path[show]?.[0] ?? null;
}

// When that was measured which is shown; where it never was, when anything was.
function measuredAt(path, show) {
  return path.measured[show] ?? path.good;
}

function textOf(path, show, now) {
  const value = valueOf(path, show, now);
  if (value === null) return path.last === null ? "not yet" : "–";
  return show === "age" ? ageOf(value) : inUnit(value, UNITS[show]);
}

// What is not as it should be, as a sign and in words; null where all is well.
function troubleOf(path) {
  if (path.status === "failed") return ["✕", "the last trial failed", "failed"];
  if (path.status === "incomplete") return ["◑", "the last trial is incomplete", "incomplete"];
  if (path.overdue) return ["◷", "overdue", "overdue"];
  return null;
}

function addressOf(campaign, path, show) {
  const query = new URLSearchParams({ campaign, sweep: path.sweep, src: path.src, dst: path.dst });
  if (show !== "age") query.set("show", show);
  return `/path?${query}`;
}

function matrixOf(campaign, sweep, paths, show, now) {
  const table = made("table", "", "matrix");
  table.append(made("caption", `Sweep ${sweep}: from the host of the row to that of the column`));
  // Rows and columns in one order, so that a path and its way back mirror each other.
  const hosts = [...new Set(paths.flatMap((path) => [path.src, path.dst]))].sort((one, other) => one.localeCompare(other, "en", { numeric: true }));
  const sources = hosts.filter((host) => paths.some((path) => path.src === host));
  const sinks = hosts.filter((host) => paths.some((path) => path.dst === host));
  const head = table.createTHead().insertRow();
  const corner = made("th", "from ↓ to →");
  corner.scope = "col";
  head.append(corner);
  for (const name of sinks) {
    const cell = made("th", name);
    cell.scope = "col";
    head.append(cell);
  }
  const shadeOf = shades(paths.map((path) => valueOf(path, show, now)));
  const at = new Map(paths.map((path) => [`${path.src}\n${path.dst}`, path]));
  const body = table.createTBody();
  for (const src of sources) {
    const row = body.insertRow();
    const name = made("th", src);
    name.scope = "row";
    row.append(name);
    for (const dst of sinks) row.append(cellOf(campaign, at.get(`${src}\n${dst}`), show, now, shadeOf));
  }
  const frame = made("div", "", "scroll");
  frame.tabIndex = 0;
  frame.role = "region";
  frame.ariaLabel = `Matrix of sweep ${sweep}`;
  frame.append(table);
  return frame;
}

function cellOf(campaign, path, show, now, shadeOf) {
  const cell = made("td");
  if (!path) return cell;
  const link = made("a", "", "cell");
  link.href = addressOf(campaign, path, show);
  const trouble = troubleOf(path);
  link.append(made("b", textOf(path, show, now)));
  const at = measuredAt(path, show);
  const age = at === null ? "never measured" : `${ageOf(now - at)} ago`;
  link.append(made("small", trouble ? `${trouble[0]} ${age}` : age));
  link.title = [`${path.src} → ${path.dst}`, trouble?.[1], path.verdict && `limited by: ${path.verdict}`].filter(Boolean).join(" · ");
  cell.dataset.shade = shadeOf(valueOf(path, show, now));
  if (trouble) cell.dataset.trouble = trouble[2];
  cell.append(link);
  return cell;
}

// From 0, the lowest, to SHADES − 1, the highest, in equal steps of the logarithm, which differ by a factor of
// APART at least: values that are nearly equal look alike. A tint alone carries no meaning.
function shades(values) {
  const known = values.filter((value) => value !== null && value > 0).map(Math.log);
  const low = Math.min(...known);
  const width = Math.max(Math.max(...known) - low, Math.log(APART));
  return (value) => (value === null || value <= 0 ? "" : Math.min(SHADES - 1, Math.floor((Math.log(value) - low) / width * SHADES)));
}
