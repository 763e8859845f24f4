import { encodingSamples } from "./encoding-samples.ts";
import { framingSamples } from "./framing-samples.ts";
import { recordedSamples } from "./recorded-samples.ts";
import type { Sample } from "./sample.ts";
import { expected, vectorRecord, type Vector, vectorFiles } from "./vector.ts";

/** Every vector of every file of this folder. */
export function vectorSamples(): readonly Sample[] {
  return [...wholeRecords("decode"), ...wholeRecords("envelope"), ...framingSamples(), ...encodingSamples()];
}

/** Every vector, and of every recording the first message of each kind. */
export async function allSamples(): Promise<readonly Sample[]> {
  return [...vectorSamples(), ...(await recordedSamples())];
}

function wholeRecords(folder: "decode" | "envelope"): readonly Sample[] {
  return vectorFiles(folder).flatMap(({ file, vectors }) => vectors.map((vector) => sampleOf(`${folder}/${file}`, vector)));
}

function sampleOf(file: string, vector: Vector): Sample {
  const { name, schemas = [], options = {}, formats, keyFormats, error } = vector;
  return {
    file,
    name,
    record: vectorRecord(vector),
    schemas: schemas.map(({ id, schema, schemaType = "AVRO" }) => ({
      id,
      schemaType,
      schema: typeof schema === "string" ? schema : JSON.stringify(schema),
    })),
    options,
    formats: formats?.split("+") ?? [],
    keyFormats: keyFormats?.split("+") ?? [],
    events: error === undefined ? (vector.events ?? [vector.event ?? {}]).map(wholeFields) : null,
    error: error?.code ?? null,
    writtenBy: vector.writtenBy ?? null,
    publishedIn: vector.publishedIn ?? null,
  };
}

/**
 * Vectors state the source and the record by some of their fields: those are compared where the vectors are checked. Of what few events
 * have, `toObject()` leaves out what is null.
 */
function wholeFields({ source: _source, record: _record, ...rest }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const shown = Object.entries(rest).filter(([name, value]) => value !== null || !seldomThere.has(name));
  return expected(Object.fromEntries(shown)) as Record<string, unknown>;
}

const seldomThere: ReadonlySet<string> = new Set(["keyChange", "updateDescription"]);
