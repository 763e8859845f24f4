/** Forms, made from what the program says of its commands. */
import { element } from "./dom.js";

/**
 * @typedef {{ name: string, label: string, help: string, kind: "switch" | "choice" | "text" | "list", placeholder: string,
 *   choices: { value: string, label: string }[], initial: string, isRequired: boolean }} Field
 * @typedef {{ command: string, description: string, fields: Field[] }} Form
 * @typedef {{ values(): Record<string, unknown>, set(name: string, value: string): void, mark(name: string | null, message: string): void,
 *   markFlagOf(problem: string): void }} ShownForm
 */

/** Fields that few need are folded away. A flag that stands in no group is shown. */
const groups = [
  { title: "Login and encryption", pattern: /^--(?:ssl|sasl|fetch-bytes|max-decompressed|registry-ids)/ },
  { title: "What is demanded", pattern: /^--(?:threshold|baseline|max-regression)/ },
];

/**
 * Shows a form's fields in a place. What was typed is kept for as long as the tab is open.
 * @param {Form} form
 * @param {HTMLElement} place
 * @param {string} prefix of the ids
 * @returns {ShownForm}
 */
export function showForm(form, place, prefix) {
  const storageName = `${prefix}-${form.command}`;
  const stored = readStored(storageName);
  /** @type {Map<string, { field: Field, input: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement, error: HTMLElement }>} */
  const shown = new Map();
  const rows = new Map(form.fields.map((field) => [field, fieldRow(field, `${prefix}-${field.name.replaceAll("-", "")}`, stored, shown)]));
  const rowsOf = (/** @type {Field[]} */ fields) => fields.map((field) => /** @type {HTMLElement} */ (rows.get(field)));
  const isGrouped = (/** @type {Field} */ { name }) => groups.some(({ pattern }) => pattern.test(name));
  place.replaceChildren(...rowsOf(form.fields.filter((field) => !isGrouped(field))));
  for (const { title, pattern } of groups) {
    const fields = form.fields.filter(({ name }) => pattern.test(name));
    if (fields.length > 0) {
      place.append(element("details", {}, element("summary", {}, title), ...rowsOf(fields)));
    }
  }
  const values = () =>
    Object.fromEntries([...shown].map(([name, { field, input }]) => [name, valueOf(field, input)]).filter(([, value]) => value !== ""));
  place.oninput = () => store(storageName, values());
  const mark = (/** @type {string | null} */ name, /** @type {string} */ message) => {
    for (const { input, error } of shown.values()) {
      input.removeAttribute("aria-invalid");
      error.textContent = "";
    }
    const wrong = name === null ? undefined : shown.get(name);
    if (wrong !== undefined) {
      wrong.input.setAttribute("aria-invalid", "true");
      wrong.error.textContent = message;
      wrong.input.closest("details")?.setAttribute("open", "");
      wrong.input.focus();
    }
  };
  return {
    values,
    set(name, value) {
      const found = shown.get(name);
      if (found !== undefined) {
        found.input.value = value;
        store(storageName, values());
      }
    },
    mark,
    // A command says which flag was wrong; its field gets the message, too.
    markFlagOf(problem) {
      const [message, flag] = /^error: option '(?:-\w, )?(--[\w-]+).*$/m.exec(problem) ?? [];
      if (message !== undefined && flag !== undefined) {
        mark(flag, message);
      }
    },
  };
}

/**
 * @param {Field} field
 * @param {string} id
 * @param {Record<string, unknown>} stored
 * @param {Map<string, { field: Field, input: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement, error: HTMLElement }>} shown
 */
function fieldRow(field, id, stored, shown) {
  const before = stored[field.name];
  const error = element("span", { id: `${id}-error`, class: "problem" });
  const input = inputOf(field, {
    id,
    name: field.name,
    "aria-describedby": `${id}-help ${id}-error`,
    autocomplete: "off",
    spellcheck: "false",
  });
  if (field.kind === "switch" && input instanceof HTMLInputElement) {
    input.checked = before === undefined ? field.initial === "true" : before === true;
  } else {
    input.value = typeof before === "string" ? before : field.initial;
  }
  shown.set(field.name, { field, input, error });
  const label = element("label", { for: id }, field.label, field.isRequired && " (needed)");
  const help = element("span", { id: `${id}-help`, class: "help" }, field.help);
  return field.kind === "switch"
    ? element("div", { class: "field switch" }, input, label, help, error)
    : element("div", { class: "field" }, label, input, help, error);
}

/**
 * @param {Field} field
 * @param {Record<string, string>} attributes
 */
function inputOf(field, attributes) {
  switch (field.kind) {
    case "switch":
      return element("input", { ...attributes, type: "checkbox" });
    case "choice":
      return element("select", attributes, ...field.choices.map(({ value, label }) => element("option", { value }, label)));
    case "list":
      return element("textarea", { ...attributes, rows: 2, placeholder: `${field.placeholder}, one a line` });
    default:
      return element("input", { ...attributes, type: "text", placeholder: field.placeholder });
  }
}

/**
 * @param {Field} field
 * @param {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} input
 */
function valueOf(field, input) {
  if (field.kind === "switch") {
    return /** @type {HTMLInputElement} */ (input).checked;
  }
  return input.value;
}

/**
 * @param {string} name
 * @returns {Record<string, unknown>}
 */
function readStored(name) {
  try {
    return Object(JSON.parse(sessionStorage.getItem(name) ?? "{}"));
  } catch {
    return {};
  }
}

/**
 * An address with a login in it is not kept.
 * @param {string} name
 * @param {Record<string, unknown>} values
 */
function store(name, values) {
  const kept = Object.entries(values).filter(([, value]) => typeof value !== "string" || !/\/\/[^/\s]*@/.test(value));
  sessionStorage.setItem(name, JSON.stringify(Object.fromEntries(kept)));
}
