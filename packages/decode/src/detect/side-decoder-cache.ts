import type { EnvelopeFormat } from "../envelope/envelope.ts";
import type { Framing } from "../framing/framing.ts";
import { BoundedMap } from "../bounded-map.ts";
import type { Engine } from "./engine.ts";
import type { SideScope } from "./route.ts";
import { SideDecoder } from "./side-decoder.ts";

/** An envelope to read for, and whether with its plan or with none. */
export interface EnvelopeOverride {
  readonly envelope: EnvelopeFormat;
  readonly isUnprojected: boolean;
}

/** A topic has few kinds of records that only their headers tell apart; a sender who makes up more gains nothing. */
const maxKinds = 16;

/**
 * The side decoders of one topic: one for each set of header names that can change the format. A topic may have several: a tombstone
 * beside flattened rows has no such header.
 */
export class SideDecoderCache {
  readonly #engine: Engine;
  readonly #scope: Omit<SideScope, "headerNames" | "announced" | "inside">;
  readonly #decoders: BoundedMap<string, SideDecoder> = new BoundedMap(maxKinds);

  constructor(engine: Engine, scope: Omit<SideScope, "headerNames" | "announced" | "inside">) {
    this.#engine = engine;
    this.#scope = scope;
  }

  /** `override`: the envelope that a value is read for again, after the one that its shape is in has declined it. */
  forHeaders(names: readonly string[], override: EnvelopeOverride | null = null): SideDecoder {
    const announced = this.#engine.formats.framings.filter((framing) => announces(framing, names));
    const headerNames = this.#scope.side === "key" ? [] : names.filter((name) => this.#engine.envelopeHeaders.has(name));
    const other = override === null ? [] : [this.#engine.formats.envelopes.indexOf(override.envelope), override.isUnprojected];
    const kind = JSON.stringify([headerNames, announced.map(({ name }) => name), other]);
    let decoder = this.#decoders.get(kind);
    if (decoder === undefined) {
      decoder = new SideDecoder(this.#engine, {
        ...this.#scope,
        headerNames,
        announced,
        inside: override === null ? null : formatOf(override),
      });
      this.#decoders.set(kind, decoder);
    }
    return decoder;
  }
}

function formatOf({ envelope, isUnprojected }: EnvelopeOverride): EnvelopeFormat {
  return isUnprojected ? { ...envelope, planFor: (shape) => ({ ...envelope.planFor(shape), defer: null, skip: [] }) } : envelope;
}

function announces({ headerNames }: Framing, names: readonly string[]): boolean {
  return headerNames.some((name) => names.includes(name));
}
