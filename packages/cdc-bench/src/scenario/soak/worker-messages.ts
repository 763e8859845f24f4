import type { DurationSummary } from "../../measure/duration-histogram.ts";
import type { ClusterConnection } from "../../load/connection.ts";
import type { Tuning } from "../catch-up/tuning.ts";
import type { SoakWindow } from "./soak-window.ts";

/** What the thread of one consumer is given. It never leaves the process: it may hold a login. */
export interface SoakWorkerData {
  readonly connection: ClusterConnection;
  readonly topic: string;
  readonly groupId: string;
  readonly format: string;
  readonly tuning: Tuning;
  /** Reads the topic again and again. Otherwise records have intended times, and latencies are measured. */
  readonly isLooped: boolean;
  /** By partition as text: the offset after the last record, if the topic is looped. */
  readonly ends: Readonly<Record<string, string>>;
}

export type FromSoakWorker =
  /** The first event was handled: the group has joined. */
  | { readonly kind: "started" }
  /** So many events since the start, at a set rate and until figures count. */
  | { readonly kind: "handled"; readonly events: number }
  | { readonly kind: "window"; readonly window: Omit<SoakWindow, "fromMs"> }
  /** What the consumer waits for; null when it goes on. */
  | { readonly kind: "waiting"; readonly text: string | null }
  | {
      readonly kind: "ended";
      readonly events: number;
      readonly errorRecords: number;
      readonly loops: number;
      readonly latency: DurationSummary | null;
    };

/** `begin`: what comes from now on counts. */
export type ToSoakWorker = "begin" | "stop";
