import type { EnvelopeFormat } from "../envelope/envelope.ts";
import type { Framing } from "../framing/framing.ts";
import type { Engine } from "./engine.ts";
import type { SideScope } from "./route.ts";
import { RecentMap } from "../recent-map.ts";
import { SideDecoder } from "./side-decoder.ts";

/** The envelope to read a value for, and whether the value is read with the plan of that envelope or unprojected. */
export interface EnvelopeOverride {
  readonly envelope: EnvelopeFormat;
  readonly isUnprojected: boolean;
}

/**
 * Few kinds of records of one topic differ by their headers alone. The bound protects against senders that write other headers each time:
 * their records are read slowly, and the kinds that others send stay.
 */
const maxKinds = 16;

/**
 * The side decoders of one topic: one for each set of header names that can change the format. A topic may need several: a tombstone beside
 * flattened rows has no header that calls it flattened.
 */
export class SideDecoderCache {
  readonly #engine: Engine;
  readonly #scope: Omit<SideScope, "headerNames" | "announced" | "outerEnvelope">;
  readonly #decoders: RecentMap<string, SideDecoder> = new RecentMap(maxKinds);

  constructor(engine: Engine, scope: Omit<SideScope, "headerNames" | "announced" | "outerEnvelope">) {
    this.#engine = engine;
    this.#scope = scope;
  }

  /** `override` names the envelope that a value is read for after the envelope of its shape has declined it. */
  forHeaders(names: readonly string[], override: EnvelopeOverride | null = null): SideDecoder {
    const announced = this.#engine.formats.framings.filter((framing) => announces(framing, names));
    // In one order and each once, so that a sender who repeats or reorders headers makes no new kind.
    const headerNames = this.#scope.side === "key" ? [] : this.#engine.envelopeHeaders.filter((name) => names.includes(name));
    const other = override === null ? [] : [this.#engine.formats.envelopes.indexOf(override.envelope), override.isUnprojected];
    const kind = JSON.stringify([headerNames, announced.map(({ name }) => name), other]);
    let decoder = this.#decoders.get(kind);
    if (decoder === undefined) {
      decoder = new SideDecoder(this.#engine, {
        ...this.#scope,
        headerNames,
        announced,
        outerEnvelope: override === null ? null : formatOf(override),
      });
      this.#decoders.set(kind, decoder);
    }
    return decoder;
  }
}

function formatOf({ envelope, isUnprojected }: EnvelopeOverride): EnvelopeFormat {
  return isUnprojected
    ? { ...envelope, planFor: (shape) => ({ ...envelope.planFor(shape), defer: null, skip: [], isSelectable: false }) }
    : envelope;
}

function announces({ headerNames }: Framing, names: readonly string[]): boolean {
  return headerNames.some((name) => names.includes(name));
}
