import { isIPv6 } from "node:net";
import { hostAndPort } from "./broker-address.ts";
import { didYouMean } from "./did-you-mean.ts";
import type { MakeDriverError } from "./errors.ts";

/** Option values by their names, not yet checked. */
export type GivenOptions = Readonly<Record<string, unknown>>;

/** Whether a value has members. */
export function isObject(value: unknown): value is GivenOptions {
  return typeof value === "object" && value !== null;
}

/**
 * The checks that the options of every driver need: clients ignore unknown names, and fail later without a reason. No message has the value of an
 * option that may be a secret.
 */
export class OptionChecks {
  readonly #driver: string;
  readonly #makeError: MakeDriverError;

  /** `driver`: the name of the function that takes the options. */
  constructor(driver: string, makeError: MakeDriverError) {
    this.#driver = driver;
    this.#makeError = makeError;
  }

  /** Throws the driver's error. `detail`: what was expected, and what was found. */
  refuse(detail: string): never {
    throw this.#makeError("invalid-option", detail);
  }

  /** Refuses options that are no object, as what JavaScript hands over when it forgets them. Their value is not shown. */
  given(options: unknown): asserts options is GivenOptions {
    if (!isObject(options) || Array.isArray(options)) {
      const found = Array.isArray(options) ? "a list" : options === null ? "null" : typeof options;
      this.refuse(`${this.#driver}() expects an object of options, such as { brokers: ["localhost:9092"] }, found ${found}`);
    }
  }

  /**
   * Refuses names that are no options. `path`: of the object, `""` or `"ssl."`. `besides`: other options, which were checked before. `notTaken`:
   * names that the driver sets itself, each with the reason.
   */
  names(path: string, given: GivenOptions, known: readonly string[], besides: readonly string[] = [], notTaken: GivenOptions = {}): void {
    for (const [name, value] of Object.entries(given)) {
      if (value !== undefined && !known.includes(name)) {
        const all = [...known, ...besides];
        this.refuse(
          Object.hasOwn(notTaken, name)
            ? `${path}${name} is not taken: ${String(notTaken[name])}`
            : `${path}${name} is no option${didYouMean(name, all) || `; there are ${all.join(", ")}`}`,
        );
      }
    }
  }

  /** Refuses anything but a list of addresses with ports. */
  brokers(brokers: unknown): asserts brokers is readonly string[] {
    if (!Array.isArray(brokers) || brokers.length === 0) {
      this.refuse(`${this.#driver}({ brokers }) expects a list of addresses, such as ["localhost:9092"]`);
    }
    for (const [i, broker] of (brokers as readonly unknown[]).entries()) {
      if (typeof broker !== "string" || !isAddress(broker)) {
        this.refuse(`brokers[${i}] must be "host:port", such as "localhost:9092", without a scheme or a user: ${whatIsWrong(broker)}`);
      }
    }
  }

  /** Refuses a login that is no object. */
  login(sasl: unknown): asserts sasl is GivenOptions {
    if (!isObject(sasl)) {
      this.refuse(`expected sasl to be an object with a mechanism, found ${typeof sasl}`);
    }
  }

  /** Refuses a credential that is empty or no text. `mayBeFunction`: a function that gives it is taken, too. */
  credential(name: string, value: unknown, mayBeFunction = false): void {
    if ((typeof value !== "string" || value === "") && !(mayBeFunction && typeof value === "function")) {
      const expected = `${mayBeFunction ? "a function, or " : ""}a text that is not empty`;
      const found = value === "" ? "an empty text" : typeof value;
      this.refuse(`expected sasl.${name} to be ${expected}, found ${found}; is it read from an environment variable that is not set?`);
    }
  }
}

/** A name, an IPv4 address, or an IPv6 address in brackets; and a port. */
function isAddress(broker: string): boolean {
  if (!/^([^\s:/@,[\]]+|\[[^\s/@,[\]]+\]):\d{1,5}$/.test(broker)) {
    return false;
  }
  const { host, port } = hostAndPort(broker);
  return port <= 65_535 && (!broker.startsWith("[") || isIPv6(host));
}

/** An address may have a password in it, if it looks like a URL: then it is not shown. */
function whatIsWrong(broker: unknown): string {
  if (broker === undefined) {
    return "it is undefined; is it read from an environment variable that is not set?";
  }
  if (typeof broker !== "string" || broker === "") {
    return broker === "" ? "it is empty" : `it is ${broker === null ? "null" : typeof broker}`;
  }
  if (broker.includes("/") || broker.includes("@")) {
    return "it looks like a URL";
  }
  if (broker.includes(",")) {
    return "it holds several addresses: make each an item of the list";
  }
  const { host } = hostAndPort(broker);
  if (broker.startsWith("[") ? !broker.endsWith("]") && !isIPv6(host) : isIPv6(broker) || isIPv6(host)) {
    return `an IPv6 address, and nothing else, stands in brackets before the port, such as "[::1]:9092", found ${JSON.stringify(broker)}`;
  }
  return broker.includes(":") && !broker.endsWith("]")
    ? `the port of ${JSON.stringify(broker)} cannot be read`
    : `${JSON.stringify(broker)} has no port`;
}
