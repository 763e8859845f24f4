import type { EnvelopeFormat } from "../envelope/envelope.ts";
import { keepingExtra, originalOf } from "../envelope/extra.ts";
import type { Origin } from "../envelope/origin.ts";
import type { CdcEvent } from "../event.ts";
import type { EnvelopeOverride } from "./side-decoder-cache.ts";
import type { SideRoute } from "./route.ts";

/** Reads the same value again, as another envelope wants it. */
export type ReadWithOverride = (override: EnvelopeOverride) => unknown;

/**
 * The events of a value that the envelope of its shape has declined: by the next one that recognises the shape and does not find by its
 * values that it is another's. What was declined was read with a plan: columns that it skips, parts that it defers. The next one reads
 * with its own.
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
  throw new TypeError(`the envelope ${envelopeFormat.name} declined a value, and no other took it: the last one must take any`);
}
