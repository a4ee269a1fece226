// Words for quantities, ages and moments, and what all pages do: the theme that was chosen stays chosen.

const STEPS = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];

function engineering(value, unit) {
  const shown = rounded(value);
  const [factor, letter] = STEPS.find(([least]) => shown >= least) ?? [1, ""];
  return `${threeDigits(shown / factor)} ${letter}${unit}`;
}

// As it will be written: what is rounded up to the next unit is in that unit.
function rounded(value) {
  return Number(value.toPrecision(3));
}

function threeDigits(value) {
  if (value === 0) return "0";
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

function inUnit(value, unit) {
  if (value === null || value === undefined) return "–";
  if (unit === "bit/s") return engineering(value, unit);
  if (unit === "s") return rounded(value) < 1 ? `${threeDigits(value * 1000)} ms` : `${threeDigits(value)} s`;
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

// Puts elements in the place of those that are there. One that is the same stays, and with it the focus, and where
// somebody reads or has marked text.
function renew(parent, elements) {
  const link = parent.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  const before = new Map([...parent.children].map((one) => [one.outerHTML, one]));
  const kept = elements.map((one) => {
    const same = before.get(one.outerHTML);
    before.delete(one.outerHTML);
    return same ?? one;
  });
  const stay = new Set(kept);
  for (const one of [...parent.children]) if (!stay.has(one)) one.remove();
  let next = parent.firstElementChild;
  for (const one of kept) {
    if (one === next) next = next.nextElementSibling;
    else parent.insertBefore(one, next);
  }
  if (link === null || parent.contains(document.activeElement)) return;
  // What had it is another now, or is gone: whoever goes on with the keyboard does so from the same place.
  (parent.querySelector(`a[href="${CSS.escape(link)}"]`) ?? parent.closest("[tabindex]"))?.focus({ preventScroll: true });
}

function counted(count, what) {
  return `${count.toLocaleString("en").replaceAll(",", " ")} ${what}${count === 1 ? "" : "s"}`;
}

const PATIENCE_MS = 20000;
const CONNECT_AGAIN_MS = 5000;
let onSilence = () => {}; // called when a question has no answer

// What the server answers. An error has the answer's status; none if there was no answer.
async function answerOf(address) {
  const asked = { headers: { accept: "application/json" }, signal: AbortSignal.timeout(PATIENCE_MS) };
  const answer = await fetch(address, asked).catch((error) => { onSilence(); throw error; });
  if (answer.status === 401) location.assign(`/login?to=${encodeURIComponent(location.pathname + location.search)}`);
  if (!answer.ok) throw Object.assign(new Error(await reasonOf(answer)), { status: answer.status });
  return answer.json();
}

async function reasonOf(answer) {
  const isText = answer.headers.get("content-type")?.startsWith("text/plain");
  return (isText && (await answer.text()).trim()) || String(answer.status);
}

// Calls `happened` with each event, and again whenever the connection is there anew: something may have been missed.
function listen(happened) {
  const state = document.getElementById("live");
  let source;
  let opened = 0;
  let waiting = null;
  function connect() {
    clearTimeout(waiting);
    waiting = null;
    source?.close();
    source = new EventSource("/events");
    source.addEventListener("open", () => {
      state.textContent = "live";
      state.dataset.state = "live";
      if (opened) happened(null);
      opened += 1;
    });
    source.addEventListener("message", (event) => happened(JSON.parse(event.data)));
    source.addEventListener("error", (event) => {
      showAway();
      // After any answer that is no stream, as a proxy's while the server begins anew, a browser tries no more.
      if (event.target.readyState === EventSource.CLOSED) connectLater();
    });
  }
  function showAway() {
    state.textContent = "not connected";
    state.dataset.state = "away";
  }
  function connectLater() {
    waiting ??= setTimeout(connect, CONNECT_AGAIN_MS);
  }
  // A stream that nobody ended, as after a power cut, is silent for ever.
  onSilence = () => {
    source.close();
    showAway();
    connectLater();
  };
  connect();
  addEventListener("pagehide", () => { clearTimeout(waiting); waiting = null; source.close(); });
  // Back in the history, a browser may show the page as it was left.
  addEventListener("pageshow", ({ persisted }) => { if (persisted) connect(); });
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
