import type { Field, Form } from "./form.ts";

/** What a page may send for a form: texts, switches and lists by the names of fields. */
export type FormValues = Readonly<Record<string, unknown>>;

/** A value that no field takes. The message is for the page's user. */
export class FormError extends Error {
  override readonly name = "FormError";
  /** The field that is wrong, if it is one. */
  readonly field: string | null;

  constructor(message: string, field: string | null = null) {
    super(message);
    this.field = field;
  }
}

const maxTextLength = 4_096;
const maxListLength = 64;

/** Reads what a page sent. @throws FormError for a field that the form does not have, and for a value that its kind does not take */
export function argsOf(form: Form, values: FormValues): readonly string[] {
  const fields = new Map(form.fields.map((field) => [field.name, field]));
  for (const name of Object.keys(values)) {
    if (!fields.has(name)) {
      throw new FormError(`${form.command} has no field ${name.slice(0, 80)}.`);
    }
  }
  const flags: string[] = [];
  const operands: string[] = [];
  for (const field of form.fields) {
    const given = Object.hasOwn(values, field.name) ? values[field.name] : undefined;
    (field.name.startsWith("-") ? flags : operands).push(...wordsOf(field, given));
  }
  return operands.length === 0 ? flags : [...flags, "--", ...operands];
}

/** Each flag as one word with its value: a value that begins with a dash is not taken for a flag. What is the default is left out. */
function wordsOf(field: Field, value: unknown): readonly string[] {
  const word = (text: string): string => (field.name.startsWith("-") ? `${field.name}=${text}` : text);
  if (value === undefined || value === null || value === "" || value === false || (value === field.initial && !field.isRequired)) {
    if (field.isRequired) {
      throw new FormError(`${field.label} must be given.`, field.name);
    }
    return [];
  }
  switch (field.kind) {
    case "switch":
      if (value !== true) {
        throw new FormError(`${field.label} is on or off.`, field.name);
      }
      return [field.name];
    case "choice": {
      const chosen = textOf(field, value);
      if (!field.choices.some((choice) => choice.value === chosen)) {
        throw new FormError(`${field.label} must be one of ${field.choices.map((choice) => choice.value).join(", ")}.`, field.name);
      }
      return chosen.startsWith("--") ? [chosen] : [word(chosen)];
    }
    case "text":
      return [word(textOf(field, value))];
    case "list": {
      const texts = Array.isArray(value) ? value.map((one) => textOf(field, one)) : textOf(field, value).split("\n");
      if (texts.length > maxListLength) {
        throw new FormError(`${field.label} takes ${maxListLength} lines at most.`, field.name);
      }
      return texts
        .map((text) => text.trim())
        .filter((text) => text !== "")
        .map(word);
    }
  }
}

function textOf(field: Field, value: unknown): string {
  if (typeof value !== "string") {
    throw new FormError(`${field.label} must be a text.`, field.name);
  }
  if (value.length > maxTextLength || value.includes("\0")) {
    throw new FormError(`${field.label} must be a text of at most ${maxTextLength} characters.`, field.name);
  }
  return field.kind === "list" ? value : value.trim();
}
