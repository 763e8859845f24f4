/**
 * The one place where code is generated. Texts from schemas reach it only through {@link quote}; the generated source is otherwise
 * made of our own templates. `npm run bench -- tiers` pays for it: "generatedReaders" for the readers of each encoding, "fastPath" for the
 * fast path of each topic.
 */

/** A text as a JavaScript string literal that cannot end early, whatever it holds. */
export function quote(text: string): string {
  return JSON.stringify(text).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

/** A property of an object literal. `__proto__` must be computed: written plainly it would set the prototype. */
export function property(name: string): string {
  return name === "__proto__" ? `["__proto__"]` : quote(name);
}

/** Whether this runtime lets code be generated (`--disallow-code-generation-from-strings`, and content security policies, do not). */
export function codeGenerationAllowed(): boolean {
  try {
    return new Function("return true")() === true;
  } catch {
    return false; // an EvalError: the answer
  }
}

/** A function from generated source; `scope` holds the values that the source calls by name. */
export function generate(source: string, scope: Readonly<Record<string, unknown>>): unknown {
  return new Function(...Object.keys(scope), `"use strict";\n${source}`)(...Object.values(scope));
}
