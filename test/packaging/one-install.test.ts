import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const packages = join(import.meta.dirname, "..", "..", "packages");

/** For authors of formats, who install the package itself: `createDecoder({ formats })` takes what they make. */
const forFormatAuthors = [
  ..."CompileOptions Deferred DeferredField EnvelopeFormat EnvelopeScope EnvelopedChange Formats Frame Framing Message".split(" "),
  ..."MessageChoice MessageSelector Origin ParsedSchema Payload PayloadReader PlainEncoding PlainRow ReadPlan RecordBytes".split(" "),
  ..."RecordObjectsWalk ResolvedLimits ResolvedValueOptions Route SchemaEncoding Shape Side UnknownValue".split(" "),
  ..."defaultModes fingerprintId learnedFromKey learnedFromSource nativeSemantic readEverything schemasByFingerprint".split(" "),
  ..."withoutNull ResolvedValidation".split(" "),
];

/** For packages that hand events on, such as the consumer. */
const forRuntimes = "EventParts withParts".split(" ");

/** For packages that register handlers by other means, such as decorators. */
const forFrameworks = "TableSlot isControlKind tableSlots".split(" ");

/** For authors of validators: a service takes that of `@cdckit/json-schema`. */
const forValidatorAuthors = "JsonSchemaDocuments JsonSchemaPlace JsonSchemaValidator JsonSchemaValidatorOptions ValidateJson".split(" ");

function publicNames(name: string): string[] {
  const index = readFileSync(join(packages, name, "src", "index.ts"), "utf8");
  return [...index.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, names]) => (names ?? "").split(",")).map((text) => text.trim());
}

describe("cdckit", () => {
  test("has names that mean one thing: no two of its packages have one in common", () => {
    const owners = new Map<string, string[]>();
    for (const name of ["decode", "registry", "consumer", "kafkajs"]) {
      for (const text of publicNames(name)) {
        owners.set(text, [...(owners.get(text) ?? []), name]);
      }
    }
    expect([...owners].filter(([text, packagesOfName]) => text !== "" && packagesOfName.length > 1)).toEqual([]);
  });

  for (const name of ["decode", "registry", "consumer", "kafkajs"]) {
    test(`has every public name of @cdckit/${name} that a service needs`, () => {
      const exported = [...publicNames("cdckit"), ...forFormatAuthors, ...forValidatorAuthors, ...forRuntimes, ...forFrameworks];
      expect(publicNames(name).filter((text) => text !== "" && !exported.includes(text))).toEqual([]);
    });
  }
});
