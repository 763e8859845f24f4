import type { Shape } from "../envelope.ts";

/** The attributes that every CloudEvent has. */
const mandatory = ["specversion", "id", "source", "type"] as const;

/** The headers that carry them in Kafka's binary mode. */
export const mandatoryHeaders: readonly string[] = mandatory.map((name) => `ce_${name}`);

/** Whether the value is the whole event (structured mode). In binary mode it is only the data. */
export function isStructured(names: readonly string[] | null): boolean {
  return names !== null && mandatory.every((name) => names.includes(name));
}

/**
 * Recognises a CloudEvent in structured mode or in binary mode. The content type is ignored, because Connect's converters cannot set one.
 */
export function recogniseCloudEvent({ fields, headerNames }: Shape): string | null {
  if (isStructured(fields)) {
    return `fields ${mandatory.join(", ")}`;
  }
  return mandatoryHeaders.every((name) => headerNames.includes(name)) ? `headers ${mandatoryHeaders.join(", ")}` : null;
}
