/**
 * The arguments of the scripts behind `npm run`. They are read first of all: `--help` answers, and a misspelt option is refused, before
 * anything is installed, built or started.
 */
import process from "node:process";
import { parseArgs } from "node:util";

const exitCodes = Object.freeze({ ok: 0, usage: 2 });

/**
 * What the script was given. With `--help` or `-h` it prints the usage and ends the process.
 * @template {NonNullable<import("node:util").ParseArgsConfig["options"]>} Options
 * @param {string} usage
 * @param {Options} options as those of `parseArgs`
 * @param {{ words?: boolean }} [more] `words`: whether arguments without dashes are taken, too
 * @returns {ReturnType<typeof parseArgs<{ options: Options, allowPositionals: true }>>}
 */
export function readArguments(usage, options, { words = false } = {}) {
  const all = { ...options, help: { type: /** @type {const} */ ("boolean"), short: "h" } };
  try {
    const found = parseArgs({ options: all, allowPositionals: words });
    if (/** @type {{ help?: boolean }} */ (found.values).help === true) {
      console.log(usage);
      process.exit(exitCodes.ok);
    }
    return /** @type {ReturnType<typeof parseArgs<{ options: Options, allowPositionals: true }>>} */ (found);
  } catch (error) {
    const [problem = ""] = (error instanceof Error ? error.message : String(error)).split(/\. |\n/); // what follows is advice for other programs
    return refuse(problem, usage);
  }
}

/**
 * The arguments for another program that does not run before it is installed and built: an option that is not among these names is refused.
 * @param {string} usage
 * @param {readonly string[]} names of options, long ones and letters
 * @returns {readonly string[]} the arguments as they came
 */
export function argumentsFor(usage, names) {
  const { tokens } = parseArgs({ strict: false, tokens: true, allowPositionals: true });
  for (const token of tokens) {
    if (token.kind === "option" && (token.name === "help" || token.name === "h")) {
      console.log(usage);
      process.exit(exitCodes.ok);
    }
    if (token.kind === "option" && !names.includes(token.name)) {
      refuse(`Unknown option '${token.rawName}'`, usage);
    }
  }
  return process.argv.slice(2);
}

/**
 * Ends the process: what was given cannot be taken.
 * @param {string} problem
 * @param {string} usage
 * @returns {never}
 */
export function refuse(problem, usage) {
  console.error(`${problem}\n${usage}`);
  process.exit(exitCodes.usage);
}
