// Rows become cards in the column of their state; each change moves one. Texts of rows are set as text, never as HTML.
const maxShownChanges = 7;

/** @type {Map<string, HTMLElement>} */
const cards = new Map();
let changes = 0;

const source = new EventSource("/events");
source.addEventListener("open", () => showConnection("live", true));
source.addEventListener("error", () => showConnection("connecting again", false)); // the browser does it by itself
source.addEventListener("rows", ({ data }) => {
  for (const card of cards.values()) card.remove();
  cards.clear();
  for (const row of JSON.parse(data)) put(row);
  count();
});
source.addEventListener("change", ({ data }) => {
  const change = JSON.parse(data);
  if (change.after === null) {
    cards.get(change.id)?.remove();
    cards.delete(change.id);
  } else {
    put(change.after);
  }
  count();
  show(change);
});

/** @param {string} text @param {boolean} isOpen */
function showConnection(text, isOpen) {
  const place = element("#connection");
  place.textContent = text;
  place.classList.toggle("open", isOpen);
}

/** @param {{ id: string, customer: string, city: string, state: string }} row */
function put({ id, customer, city, state }) {
  cards.get(id)?.remove();
  const card = document.createElement("article");
  card.dataset["id"] = String(id);
  card.append(`${id} · ${customer}`, small(city));
  cards.set(id, card);
  element(`section[data-state="${CSS.escape(state)}"] h2`).after(card);
}

function count() {
  for (const column of document.querySelectorAll("section[data-state]")) {
    const place = column.querySelector("b");
    if (place !== null) place.textContent = String(column.querySelectorAll("article").length);
  }
}

/** @param {{ op: string, id: string, before: Record<string, unknown> | null, after: Record<string, unknown> | null, committedAt: number | null }} change */
function show({ op, id, before, after, committedAt }) {
  const item = document.createElement("li");
  const name = document.createElement("b");
  name.textContent = op;
  item.append(name, ` parcel ${id}`, small(differenceOf(before, after)));
  const list = element("#changes");
  list.prepend(item);
  while (list.childElementCount > maxShownChanges) list.lastElementChild?.remove();
  element("#count").textContent = String(++changes);
  if (committedAt !== null) element("#delay").textContent = `${Math.max(0, Date.now() - committedAt)} ms`;
}

/** @param {Record<string, unknown> | null} before @param {Record<string, unknown> | null} after */
function differenceOf(before, after) {
  if (after === null) return "gone";
  if (before === null) return Object.values(after).slice(1).join(", ");
  const changed = Object.keys(after).filter((name) => before[name] !== after[name]);
  return changed.map((name) => `${name}: ${before[name]} → ${after[name]}`).join(", ");
}

/** @param {string} text */
function small(text) {
  const made = document.createElement("small");
  made.textContent = text;
  return made;
}

/** @param {string} selector @returns {HTMLElement} */
function element(selector) {
  const found = document.querySelector(selector);
  if (!(found instanceof HTMLElement)) throw new Error(`the page has no ${selector}`);
  return found;
}
