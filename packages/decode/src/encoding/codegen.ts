/**
 * The only place that generates code. Texts from schemas reach it only through {@link quote}; the rest of the generated source is our own
 * templates. `npm run bench -- tiers` measures what that is worth: "generatedReaders" for the readers of each encoding, "fastPath" for the
 * fast path of each topic.
 */

/** A text as a JavaScript string literal. No text can end the literal early. */
export function quote(text: string): string {
  return JSON.stringify(text).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

/** A property of an object literal. `__proto__` must be computed, because written plainly it would set the prototype. */
export function property(name: string): string {
  return name === "__proto__" ? `["__proto__"]` : quote(name);
}

/** Whether this runtime allows generated code. `--disallow-code-generation-from-strings` and content security policies forbid it. */
export function codeGenerationAllowed(): boolean {
  try {
    return new Function("return true")() === true;
  } catch {
    return false; // an EvalError means no
  }
}

/** Makes a function from generated source. `scope` holds the values that the source refers to by name. */
export function generate(source: string, scope: Readonly<Record<string, unknown>>): unknown {
  return generateMaker(source, Object.keys(scope))(...Object.values(scope));
}

/** Returns what the source returns, with these values for the names of its scope. What it makes of other values shares its code. */
export type Maker = (...values: readonly unknown[]) => unknown;

/** The source may be given other values each time. */
export function generateMaker(source: string, names: readonly string[]): Maker {
  return new Function(...names, `"use strict";\n${source}`) as Maker;
}
