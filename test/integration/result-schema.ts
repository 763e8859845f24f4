import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "vitest";

/** The published schema, by the name under which users get it. */
const schema = JSON.parse(readFileSync(createRequire(import.meta.url).resolve("cdc-bench/schema/result.schema.json"), "utf8")) as Schema;
const validate = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false, strictTypes: false, allErrors: true }).compile(
  schema,
);

interface Schema {
  readonly properties: Readonly<Record<string, unknown>>;
  readonly allOf: readonly { readonly if: { readonly properties: { readonly command: { readonly const: string } } } }[];
  readonly $defs: Readonly<Record<string, { readonly properties?: Readonly<Record<string, unknown>> }>>;
}

/**
 * Holds what a command wrote with `--json` to the published schema: every field must be as it says, the command must be in it, and no
 * outermost field may be missing there. Takes the text, and returns the parsed result.
 */
export function expectValidResult(json: string): Readonly<Record<string, unknown>> {
  const result = JSON.parse(json) as Readonly<Record<string, unknown>>;
  validate(result);
  const problems = (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  expect(problems, problems.join("; ")).toEqual([]);
  const command = String(result["command"]);
  expect(schema.allOf.map((each) => each.if.properties.command.const)).toContain(command);
  const described = new Set([...Object.keys(schema.properties), ...Object.keys(schema.$defs[command]?.properties ?? {})]);
  const missing = Object.keys(result).filter((name) => !described.has(name));
  expect(missing, `fields that the schema lacks: ${missing.join(", ")}`).toEqual([]);
  return result;
}
