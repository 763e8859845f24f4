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
  ..."sourcePositions withoutNull".split(" "),
];

/** Registry and consumer both have this name, and so do `Clock`, `RetryOptions` and `systemClock`, which are the registry's here. */
const namedTwice = ["BreakerOptions"];

function publicNames(name: string): string[] {
  const index = readFileSync(join(packages, name, "src", "index.ts"), "utf8");
  return [...index.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, names]) => (names ?? "").split(",")).map((text) => text.trim());
}

describe("cdckit", () => {
  for (const name of ["decode", "registry", "consumer", "kafkajs"]) {
    test(`has every public name of @cdckit/${name} that a service needs`, () => {
      const exported = [...publicNames("cdckit"), ...forFormatAuthors, ...namedTwice];
      expect(publicNames(name).filter((text) => text !== "" && !exported.includes(text))).toEqual([]);
    });
  }
});
