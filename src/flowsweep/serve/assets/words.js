// Words for quantities, ages and moments, and what all pages do: the theme that was chosen stays chosen.

const STEPS = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];

function engineering(value, unit) {
  const [factor, letter] = STEPS.find(([least]) => value >= least) ?? [1, ""];
  return `${threeDigits(value / factor)} ${letter}${unit}`;
}

function threeDigits(value) {
  if (value === 0) return "0";
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

function inUnit(value, unit) {
  if (value === null || value === undefined) return "–";
  if (unit === "bit/s") return engineering(value, unit);
  if (unit === "s") return value < 1 ? `${threeDigits(value * 1000)} ms` : `${threeDigits(value)} s`;
  if (unit === "share") return `${threeDigits(value * 100)} %`;
  return String(value);
}

const AGES = [[172800, 86400, "days"], [7200, 3600, "h"], [120, 60, "min"], [0, 1, "s"]];

function ageOf(seconds) {
  const whole = Math.max(0, seconds);
  const [, factor, unit] = AGES.find(([least]) => whole >= least);
  return `${Math.round(whole / factor)} ${unit}`;
}

function momentOf(seconds) {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19).replace("T", " ")}`;
}

function made(tag, text = "", kind = "") {
  const element = document.createElement(tag);
  if (text !== "") element.textContent = text;
  if (kind) element.className = kind;
  return element;
}

function counted(count, what) {
  return `${count.toLocaleString("en").replaceAll(",", " ")} ${what}${count === 1 ? "" : "s"}`;
}

async function answerOf(address) {
  const answer = await fetch(address, { headers: { accept: "application/json" } });
  if (answer.status === 401) location.assign(`/login?to=${encodeURIComponent(location.pathname + location.search)}`);
  if (!answer.ok) throw new Error(`${answer.status}`);
  return answer.json();
}

// Calls `happened` with each event, and again whenever the connection is there anew: something may have been missed.
function listen(happened) {
  const state = document.getElementById("live");
  let source;
  let opened = 0;
  function connect() {
    source = new EventSource("/events");
    source.addEventListener("open", () => {
      state.textContent = "live";
      state.dataset.state = "live";
      if (opened) happened(null);
      opened += 1;
    });
    source.addEventListener("message", (event) => happened(JSON.parse(event.data)));
    source.addEventListener("error", () => {
      state.textContent = "not connected";
      state.dataset.state = "away";
      // After any answer that is no stream, as a proxy's while the server begins anew, a browser tries no more.
      if (source.readyState === EventSource.CLOSED) setTimeout(connect, 5000);
    });
  }
  connect();
  addEventListener("pagehide", () => source.close());
}

// At most one call at a time, and one more behind it if it was asked for meanwhile.
function inTurn(work, pauseMs) {
  let running = false;
  let again = false;
  return async function ask() {
    if (running) { again = true; return; }
    running = true;
    try {
      await work();
    } finally {
      setTimeout(() => {
        running = false;
        if (again) { again = false; ask(); }
      }, pauseMs);
    }
  };
}

const THEME = "flowsweep-theme";
try {
  const chosen = localStorage.getItem(THEME);
  if (chosen) document.documentElement.dataset.theme = chosen;
} catch { /* Without storage the system's choice holds. */ }
// As soon as it changes: the next page may be asked for at once.
new MutationObserver(() => {
  try { localStorage.setItem(THEME, document.documentElement.dataset.theme); } catch { /* as above */ }
}).observe(document.documentElement, { attributeFilter: ["data-theme"] });
