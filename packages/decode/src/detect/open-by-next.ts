import type { EnvelopeFormat } from "../envelope/envelope.ts";
import { keepingExtra, originalOf } from "../envelope/extra.ts";
import type { Origin } from "../envelope/origin.ts";
import type { CdcEvent } from "../event.ts";
import type { Instead } from "./side-decoders.ts";
import type { SideRoute } from "./side-route.ts";

/** Reads the same value again, as another envelope wants it. */
export type ReadAgain = (instead: Instead) => unknown;

/**
 * The events of a value that the envelope of its shape has declined: by the next one that recognises the shape and does not find by its
 * values that it is another's. What was declined was read with a plan: columns that it skips, parts that it defers. The next one reads
 * with its own.
 */
export function openByNext(
  origin: Origin,
  { opens, shape }: SideRoute,
  envelopes: readonly EnvelopeFormat[],
  readAgain: ReadAgain,
): readonly CdcEvent[] {
  const declined = originalOf(opens);
  for (const envelope of envelopes.slice(envelopes.indexOf(declined))) {
    if (envelope !== declined && envelope.recognise(shape) === null) {
      continue;
    }
    const renamed = origin.withRoute({ ...origin.route, envelope: envelope.name });
    const events =
      (envelope === declined ? null : keepingExtra(envelope, shape).open(readAgain({ envelope, isWhole: false }), renamed)) ??
      envelope.openWhole?.(readAgain({ envelope, isWhole: true }), renamed) ??
      null;
    if (events !== null) {
      return events;
    }
  }
  throw new TypeError(`the envelope ${opens.name} declined a value, and no other took it: the last one must take any`);
}
