import type { MakeDriverError } from "./errors.ts";

/** The largest number that a request of Kafka's has room for, and the longest delay of Node's timers, which fire at once after a longer one. */
export const maxInt32: number = 2 ** 31 - 1;

/** Options of a driver in two: its numbers, all of them present, and what remains. */
export interface NumberOptions<Name extends string> {
  /** The values that were given, and the defaults of the others. */
  readonly numbers: Readonly<Record<Name, number>>;
  /** The options whose names are not in `defaults`, as they are. */
  readonly others: Readonly<Record<string, unknown>>;
}

/**
 * Takes the numbers out of a driver's options: those that `defaults` names. Each is a positive integer up to 2^31 - 1, or up to its value in
 * `maxima`. Throws `invalid-option` with the name of the one that is not.
 */
export function numberOptions<Name extends string>(
  options: object,
  defaults: Readonly<Record<Name, number>>,
  makeError: MakeDriverError,
  maxima?: Readonly<Partial<Record<NoInfer<Name>, number>>>,
): NumberOptions<Name> {
  const numbers: Record<Name, number> = { ...defaults };
  const others: Record<string, unknown> = {};
  const isNumber = (name: string): name is Name => Object.hasOwn(defaults, name);
  for (const [name, value] of Object.entries(options) as [string, unknown][]) {
    if (!isNumber(name)) {
      others[name] = value;
    } else if (value !== undefined) {
      checkNumber(name, value, maxima?.[name] ?? maxInt32, makeError);
      numbers[name] = value;
    }
  }
  return { numbers, others };
}

/**
 * A number that has no default, as a member by its name: none if it was not given. Throws `invalid-option` with the name if the value is
 * no positive integer up to `max`.
 */
export function optionalNumber<Name extends string>(
  name: Name,
  value: unknown,
  max: number,
  makeError: MakeDriverError,
): Readonly<Partial<Record<Name, number>>> {
  if (value !== undefined) {
    checkNumber(name, value, max, makeError);
  }
  return (value === undefined ? {} : { [name]: value }) as Partial<Record<Name, number>>; // a computed name is a string to the compiler
}

/** Throws `invalid-option` with the name of the option if its value is no positive integer up to `max`. */
function checkNumber(name: string, value: unknown, max: number, makeError: MakeDriverError): asserts value is number {
  if (!Number.isSafeInteger(value) || (value as number) < 1 || (value as number) > max) {
    throw makeError("invalid-option", `expected ${name} to be a positive integer, at most ${max}, found ${String(value)}`);
  }
}
