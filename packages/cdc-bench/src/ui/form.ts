import type { Command, Option } from "commander";
import { hasPresenter } from "../presenters/present.ts";

/** What a command can be asked for, made from the command itself: a new flag is a new field. */
export interface Form {
  readonly command: string;
  readonly description: string;
  readonly fields: readonly Field[];
}

/** One input. Its `name` is what values are sent under. */
export interface Field {
  /** The long flag, such as `--fetch-bytes`, or the name of an argument without one. */
  readonly name: string;
  readonly label: string;
  readonly help: string;
  /** `list` is a text a line, and the flag once for each. */
  readonly kind: "switch" | "choice" | "text" | "list";
  /** What a value looks like, such as `host:port,...`. */
  readonly placeholder: string;
  readonly choices: readonly Choice[];
  /** What is in the field at first: the default of the flag as it is typed, or empty. */
  readonly initial: string;
  readonly isRequired: boolean;
}

export interface Choice {
  readonly value: string;
  readonly label: string;
}

/** What the page decides itself: where the result goes and in which form, and what makes sense at a terminal alone. */
const ownFlags: ReadonlySet<string> = new Set([
  "--json",
  "--output",
  "--output-format",
  "--profile",
  "--log-level",
  "--log-json",
  "--debug",
  "--help",
  "--version",
]);

/** The fields of a command in the order of its help. `hidden` are long flags that are set elsewhere in the page. */
export function formOf(command: Command, hidden: readonly string[] = []): Form {
  const options = command.options.filter(({ long, hidden: isHidden }) => !isHidden && long !== undefined && long !== null);
  const shown = options.filter(({ long }) => !ownFlags.has(long ?? "") && !hidden.includes(long ?? ""));
  const args = command.registeredArguments.map(
    (argument): Field => ({
      name: argument.name(),
      label: argument.name(),
      help: argument.description,
      kind: argument.variadic ? "list" : "text",
      placeholder: argument.name(),
      choices: [],
      initial: "",
      isRequired: argument.required,
    }),
  );
  return { command: command.name(), description: command.description(), fields: [...args, ...shown.flatMap((one) => fieldOf(one, shown))] };
}

/** Whether a command measures and writes one JSON result, which has a report or can be held to thresholds: the page offers those. */
export function isMeasuring(command: Command): boolean {
  const flags = new Set(command.options.map(({ long }) => long));
  return flags.has("--json") && flags.has("--output") && (flags.has("--threshold") || hasPresenter(command.name()));
}

function fieldOf(option: Option, all: readonly Option[]): readonly Field[] {
  const { long = "", description: help } = option;
  const name = long ?? "";
  const isSwitch = takesNothing(option);
  // `--tail TIME` and `--no-tail` are two fields; `--ssl` and `--no-ssl` are one.
  const opposite = isSwitch
    ? all.find((other) => other !== option && takesNothing(other) && other.attributeName() === option.attributeName())
    : undefined;
  if (opposite !== undefined && option.negate) {
    return []; // it is a choice of its opposite's field
  }
  const common = { name, label: name.replace(/^--/, "").replaceAll("-", " "), help, isRequired: option.mandatory };
  if (opposite !== undefined) {
    const choices = [
      { value: "", label: "default" },
      { value: name, label: name },
      { value: opposite.long ?? "", label: opposite.long ?? "" },
    ];
    return [{ ...common, kind: "choice", placeholder: "", choices, initial: "" }];
  }
  if (isSwitch) {
    return [{ ...common, kind: "switch", placeholder: "", choices: [], initial: option.negate ? "" : String(option.defaultValue ?? "") }];
  }
  const initial = initialOf(option);
  if (option.argChoices !== undefined) {
    const choices = option.argChoices.map((value) => ({ value, label: value }));
    const none = initial === "" ? [{ value: "", label: "default" }] : [];
    return [{ ...common, kind: "choice", placeholder: "", choices: [...none, ...choices], initial }];
  }
  const placeholder = /[<[](.+)[>\]]/.exec(option.flags)?.[1] ?? "";
  return [{ ...common, kind: isRepeatable(option) ? "list" : "text", placeholder, choices: [], initial }];
}

function takesNothing({ required, optional }: Option): boolean {
  return !required && !optional;
}

/** Commander does not say whether a flag adds up, so the help has to. */
function isRepeatable({ variadic, description }: Option): boolean {
  return variadic || /\brepeat/i.test(description);
}

/** A default that was parsed already, such as a number of milliseconds, cannot be typed in: it stays in the help. */
function initialOf({ defaultValue, defaultValueDescription, parseArg }: Option): string {
  if (defaultValueDescription !== undefined || defaultValue === undefined || defaultValue === null) {
    return "";
  }
  if (typeof defaultValue === "string") {
    return defaultValue;
  }
  if (typeof defaultValue !== "number" && typeof defaultValue !== "bigint") {
    return "";
  }
  try {
    const text = String(defaultValue);
    return parseArg === undefined || parseArg(text, undefined) === defaultValue ? text : "";
  } catch {
    return "";
  }
}
