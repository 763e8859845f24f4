import type { Profiler } from "node:inspector";
import type { RecordableHistogram } from "node:perf_hooks";
import type { BenchErrorCode } from "../../bench-error.ts";
import type { CodecMeasure } from "../../codec/measure-codecs.ts";
import type { Row } from "../../codec/data-sets.ts";
import type { RecordShape } from "../../codec/shape.ts";
import type { ClusterConnection } from "../../load/connection.ts";
import type { Coping, SchemaVersion } from "./evolution.ts";
import type { Via } from "./transport.ts";

/** What a thread is started with. Holds secrets of the connection. */
export interface ThreadSetup {
  readonly via: Via;
  readonly connection: ClusterConnection | null;
  readonly redisUrl: string | null;
  /** The topic, the stream's key, or what the keys of values begin with. */
  readonly place: string;
  readonly groupId: string;
  readonly shape: RecordShape;
  readonly rows: readonly Row[];
  readonly plugIns: readonly string[];
  readonly codecNames: readonly string[];
  /** What the thread says of itself while it works: {@link stateFields}. */
  readonly state: SharedArrayBuffer;
}

/** Where each number of the shared state is. */
export const stateFields = { rounds: 0, phase: 1, codec: 2, stop: 3 } as const;

export const phases = ["idle", "serialize", "exchange", "deserialize", "memory"] as const;
export type ThreadPhase = (typeof phases)[number];

/** Rounds of one codec that are played together. */
export interface Trial {
  /** Its place in the list of codecs. */
  readonly codec: number;
  readonly compression: string;
  readonly inFlight: number;
  /** Values in a round. */
  readonly batch: number;
  /** Null: until the time is over. */
  readonly rounds: number | null;
  readonly durationMs: number | null;
  /** Who writes and who reads. */
  readonly writer: SchemaVersion;
  readonly reader: SchemaVersion;
  /** Whether a round that cannot be read is counted, or ends the measurement. */
  readonly isTolerant: boolean;
}

/** What came of a trial in one thread. */
export interface TrialOutcome {
  readonly rounds: number;
  readonly values: number;
  readonly bytes: number;
  /** What was played was waited for; rounds overlap if several are in flight. */
  readonly elapsedMs: number;
  readonly latency: RecordableHistogram;
  /** Sums over all rounds. */
  readonly serializeMs: number;
  readonly sendMs: number;
  readonly receiveMs: number;
  readonly deserializeMs: number;
  readonly failures: number;
  readonly failure: string | null;
  /** How values that were written with one schema were read with the other. */
  readonly copings: Readonly<Partial<Record<Coping, number>>>;
}

export type ThreadRequest =
  | { readonly kind: "play"; readonly trial: Trial }
  | { readonly kind: "memory"; readonly rounds: number; readonly minMs: number }
  | { readonly kind: "start-profile" }
  | { readonly kind: "stop-profile" }
  | { readonly kind: "close" };

export type ThreadAnswer =
  | { readonly kind: "ready"; readonly codecs: readonly string[] }
  | { readonly kind: "played"; readonly outcome: TrialOutcome }
  | { readonly kind: "memory"; readonly measures: readonly CodecMeasure[] }
  | { readonly kind: "profile-started" }
  | { readonly kind: "profile"; readonly profile: Profiler.Profile }
  | { readonly kind: "closed" }
  | { readonly kind: "failed"; readonly code: BenchErrorCode | "unexpected"; readonly detail: string };
