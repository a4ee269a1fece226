// The page of a single trial: opened by its address (#trial-…), drawn from its row in the table and from its data block
// only then. Everything is set as text: names come from an archive.

const TRIAL = "#trial-";
const GROUPS = ["Asked", "Measured", "Run", "Failure"];

class TrialPage {
  constructor(table, viewer) {
    this.viewer = viewer;
    this.opened = 0; // how often
    this.page = document.getElementById("opened");
    this.main = document.querySelector("main");
    this.table = table;
    this.scrolled = 0;
    addEventListener("hashchange", () => this.follow());
    // Where the reader was, before the browser goes to an address that is not on the page yet.
    document.addEventListener("click", (event) => this.leave(event), true);
    this.follow();
  }

  get isOpen() {
    return !this.page.hidden;
  }

  leave(event) {
    if (!this.isOpen && event.target.closest?.(`a[href^="${TRIAL}"]`)) this.scrolled = scrollY;
  }

  follow() {
    const row = location.hash.startsWith(TRIAL) && document.getElementById(location.hash.slice(1));
    if (row && this.table.contains(row)) this.open(row);
    else if (this.isOpen) this.close();
  }

  close() {
    this.viewer.close();
    this.clear();
    this.page.hidden = true;
    this.main.hidden = false;
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (target) target.scrollIntoView();
    else scrollTo(0, this.scrolled);
  }

  open(row) {
    this.viewer.close();
    this.clear();
    this.main.hidden = true;
    this.page.hidden = false;
    scrollTo(0, 0);
    this.table.querySelector(".is-opened")?.classList.remove("is-opened");
    row.classList.add("is-opened");
    this.id = row.id.slice(TRIAL.length - 1);
    this.tell(row);
    this.opened += 1;
    this.fill(this.id, this.opened);
    document.getElementById("opened-title").focus({ preventScroll: true });
  }

  draw(series) {
    part("figures").append(...trialCards(this.id, series));
    const plots = [...part("figures").querySelectorAll(".plot")];
    for (const plot of plots) drawFigure(plot);
    joinTimes(plots);
  }

  // The figures that are drawn take the colours of the theme.
  restyle() {
    for (const node of this.page.querySelectorAll(".plot")) if (node._fullLayout) restyleFigure(node);
  }

  clear() {
    for (const node of this.page.querySelectorAll(".plot")) Plotly.purge(node);
    for (const name of ["limits", "facts", "repeats", "figures", "tables"]) part(name).replaceChildren();
    for (const name of ["kicker", "title", "lede", "failure"]) part(name).textContent = "";
  }

  // What the table of trials knows of it: every column that has a value, under the heading of its kind.
  tell(row) {
    const heads = [...this.table.tHead.rows[0].cells];
    const texts = heads.map((head, index) => row.cells[index].textContent.trim());
    const groups = new Map(GROUPS.map((name) => [name, []]));
    heads.forEach((head, index) => {
      if (texts[index]) groups.get(head.dataset.group).push([head.textContent.trim(), texts[index], head.title]);
    });
    const failure = groups.get("Failure").map(([, text]) => text).join(" ");
    groups.delete("Failure");
    part("kicker").textContent = `Trial ${this.id}`;
    part("failure").textContent = failure;
    part("failure").hidden = !failure;
    for (const [name, facts] of groups) part("facts").append(factList(name, facts));
    this.neighbours(row);
  }

  // In the order in which the table stands now, without the rows that are filtered away.
  neighbours(row) {
    const shown = [...this.table.tBodies[0].rows].filter((one) => !one.hidden || one === row);
    const place = shown.indexOf(row);
    for (const [name, other] of [["before", shown[place - 1]], ["after", shown[place + 1]]]) {
      const link = part(name);
      link.hidden = !other;
      if (other) link.href = `#${other.id}`;
    }
  }

  async fill(id, opened) {
    const content = await unpacked(id);
    if (this.opened !== opened || !this.isOpen) return;
    part("title").textContent = content.title;
    part("lede").textContent = content.lede;
    if (content.verdict || content.explained) part("limits").append(verdict(content));
    if (content.limits.length) part("limits").append(limitBar(content.limits));
    if (content.repeats.length) part("repeats").append(repeatLinks(content));
    for (const table of content.tables) part("tables").append(plainTable(table));
    if (content.series) this.draw(content.series);
  }
}

function part(name) {
  return document.getElementById(`opened-${name}`);
}

// The data block of a trial lies below the scripts: a page that is still loading may not have it yet.
async function unpacked(id) {
  const selector = `script[data-trial="${CSS.escape(id)}"]`;
  if (!document.querySelector(selector) && document.readyState === "loading") {
    await new Promise((loaded) => { addEventListener("DOMContentLoaded", loaded, { once: true }); });
  }
  const bytes = Uint8Array.from(atob(document.querySelector(selector).textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

function factList(name, facts) {
  const list = element("dl", "");
  for (const [title, text, note] of facts) {
    const pair = element("div", "");
    pair.title = note;
    pair.append(element("dt", title), element("dd", text));
    list.append(pair);
  }
  const group = element("div", "");
  group.append(element("h4", name), list);
  return group;
}

// What limited a trial, and what the trial says of itself: one without a verdict may have something to say.
function verdict({ verdict: word, explained }) {
  const line = element("p", word ? "Verdict: " : "", "verdict");
  if (word) line.append(element("b", word));
  if (explained) line.append(element("span", explained));
  return line;
}

function limitBar(limits) {
  const whole = element("div", "", "limits");
  const bar = element("p", "", "limits__bar");
  const legend = element("p", "", "limits__legend");
  for (const [key, name, share] of limits) {
    const percent = `${(share * 100).toFixed(share < 0.01 ? 1 : 0)} %`;
    const piece = element("span", "");
    piece.dataset.limit = key;
    piece.style.flexGrow = share;
    piece.title = `${name} ${percent}`;
    const label = element("span", `${name} ${percent}`);
    label.dataset.limit = key;
    bar.append(piece);
    legend.append(label);
  }
  whole.append(element("h4", "What the flight filled, as a share of the time"), bar, legend);
  return whole;
}

function repeatLinks({ repeats, further_repeats: further }) {
  const list = element("p", further ? "Repeats of this point next to it: " : "Other repeats of this point: ", "repeats");
  for (const [id, name, goodput] of repeats) {
    const link = element("a", `${name}, ${goodput}`);
    link.href = TRIAL + id;
    list.append(link, " ");
  }
  if (further) list.append(`and ${further} more in the table of trials`);
  return list;
}

function plainTable({ title, note, head, text, rows }) {
  const table = element("table", "", "plain");
  const kind = (index) => (text.includes(index) ? "" : "number");
  const line = table.createTHead().insertRow();
  head.forEach((name, index) => line.append(element("th", name, kind(index))));
  const body = table.createTBody();
  for (const values of rows) {
    const row = body.insertRow();
    values.forEach((value, index) => row.append(element("td", value, kind(index))));
  }
  const frame = element("div", "", "scroll");
  frame.append(table);
  const whole = element("section", "");
  whole.append(element("h3", title), ...(note ? [element("p", note, "note")] : []), frame);
  return whole;
}

function element(tag, text, kind = "") {
  const made = document.createElement(tag);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
}
