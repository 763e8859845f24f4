/** Elements without markup from texts: what comes from topics is always text. */

/**
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} [type]
 * @returns {T}
 */
export function byId(id, type) {
  const found = document.getElementById(id);
  if (found === null || (type !== undefined && !(found instanceof type))) {
    throw new Error(`there is no ${id}`);
  }
  return /** @type {T} */ (found);
}

/**
 * @typedef {string | Node | null | undefined | false} Child
 */

/**
 * An element with attributes and children. A function is a listener (`onclick`); true is an attribute without a value.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 * @param {Record<string, string | number | boolean | ((event: Event) => void)>} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      made.addEventListener(key.replace(/^on/, ""), value);
    } else if (value !== false) {
      made.setAttribute(key, value === true ? "" : String(value));
    }
  }
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/**
 * Shows a text in an element, or hides the element if there is none.
 * @param {HTMLElement} place
 * @param {string} text
 */
export function say(place, text) {
  place.textContent = text;
  place.hidden = text === "";
}

/**
 * Says something to those who do not see the page. What changes many times a second is not said.
 * @param {string} text
 */
export function announce(text) {
  byId("announcement").textContent = text;
}

/** @param {number} value */
export function countText(value) {
  return Math.round(value).toLocaleString("en-US");
}

/** @param {number} perSecond */
export function rateText(perSecond) {
  return perSecond >= 10 ? countText(perSecond) : String(Number(perSecond.toPrecision(2)));
}

/** @param {number} milliseconds */
export function millisecondsText(milliseconds) {
  return milliseconds >= 1_000 ? `${(milliseconds / 1e3).toPrecision(3)} s` : `${Number(milliseconds.toPrecision(3))} ms`;
}

/** @param {number} seconds */
export function secondsText(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
