// Sorts and filters the table of trials. What it is filtered by stands in the page's address, which can be passed on.

const FILTERED = "#trials?";

function watchTable(table, form, shown) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const texts = new Map(rows.map((row) => [row, searched(textOf(row).toLowerCase())]));

  form.addEventListener("input", () => {
    filter();
    history.replaceState(null, "", chosen() ? FILTERED + chosen() : "#trials");
  });
  addEventListener("hashchange", followAddress);
  followAddress();

  function followAddress() {
    // A link to the table leaves it as it is filtered, and the address says so.
    if (location.hash === "#trials" && chosen()) history.replaceState(null, "", FILTERED + chosen());
    if (!location.hash.startsWith(FILTERED) || location.hash === FILTERED + chosen()) return;
    const asked = new URLSearchParams(location.hash.slice(FILTERED.length));
    form.words.value = asked.get("words") ?? "";
    form.status.value = asked.get("status") ?? "";
    filter();
    form.scrollIntoView();
  }

  // What the rows are filtered by, as it stands in an address; empty where they are not.
  function chosen() {
    return String(new URLSearchParams([...new FormData(form)].filter(([, value]) => value)));
  }

  function filter() {
    const words = termsOf(form.words.value);
    let count = 0;
    for (const row of rows) {
      const fits = (!form.status.value || row.dataset.status === form.status.value)
        && words.every((word) => holds(texts.get(row), word));
      row.hidden = !fits;
      count += fits;
    }
    shown.textContent = `${count} of ${rows.length}`;
  }
  form.addEventListener("submit", (event) => event.preventDefault());

  for (const header of table.tHead.rows[0].cells) {
    header.firstElementChild.addEventListener("click", () => sortBy(header));
  }

  function sortBy(header) {
    const descending = header.ariaSort ? header.ariaSort === "ascending" : header.classList.contains("number");
    for (const other of table.tHead.rows[0].cells) other.ariaSort = null;
    header.ariaSort = descending ? "descending" : "ascending";
    const keys = new Map(rows.map((row) => [row, keyOf(row.cells[header.cellIndex])]));
    rows.sort((one, other) => compare(keys.get(one), keys.get(other), descending ? -1 : 1));
    body.append(...rows);
  }
}

// No word is of two cells.
function textOf(row) {
  return [...row.cells].map((cell) => cell.textContent).join("\n");
}

// A trial beside which the other way ran, too, is also one of its direction.
function searched(text) {
  return text.includes(" ⇄ ") ? `${text} ${text.replaceAll(" ⇄ ", " → ")}` : text;
}

// A number where the cell has one; null where it is empty.
function keyOf(cell) {
  const text = cell.dataset.sort ?? cell.textContent;
  if (text === "") return null;
  return cell.dataset.sort === undefined ? text : Number(text);
}

// Empty cells stay at the end in both orders.
function compare(one, other, sign) {
  if (one === null || other === null) return (one === null) - (other === null);
  return sign * (typeof one === "number" ? one - other : one.localeCompare(other, "en", { numeric: true }));
}
