import type { EnvelopeFormat } from "../envelope/envelope.ts";
import { keepingExtra, originalOf } from "../envelope/extra.ts";
import type { Origin } from "../envelope/origin.ts";
import type { CdcEvent } from "../event.ts";
import type { EnvelopeOverride } from "./side-decoder-cache.ts";
import type { SideRoute } from "./route.ts";

/** Reads the same value again for another envelope. */
export type ReadWithOverride = (override: EnvelopeOverride) => unknown;

/**
 * The events of a value that the envelope of its shape has declined. The same envelope gets the value once more with all columns, if it can
 * open such a value. Then each next envelope that recognises the shape is tried, until one does not decline. The value is read again each
 * time, because each reading follows the plan of one envelope: it skips columns and defers parts that another envelope may need.
 */
export function openWithFallback(
  origin: Origin,
  { envelopeFormat, shape }: SideRoute,
  envelopes: readonly EnvelopeFormat[],
  readWithOverride: ReadWithOverride,
): readonly CdcEvent[] {
  const declined = originalOf(envelopeFormat);
  for (const envelope of envelopes.slice(envelopes.indexOf(declined))) {
    if (envelope !== declined && envelope.recognise(shape) === null) {
      continue;
    }
    const renamed = origin.withRoute({ ...origin.route, envelope: envelope.name });
    const events =
      (envelope === declined ? null : keepingExtra(envelope, shape).open(readWithOverride({ envelope, isUnprojected: false }), renamed)) ??
      envelope.openUnprojected?.(readWithOverride({ envelope, isUnprojected: true }), renamed) ??
      null;
    if (events !== null) {
      return events;
    }
  }
  throw new TypeError(
    `expected an envelope for a value that ${envelopeFormat.name} declined, found none: the last envelope must open every value`,
  );
}
