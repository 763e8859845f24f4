import type { PassOptions } from "./pass.ts";

/** What a process of its own is asked to do. */
export type PeerJob =
  | ({ readonly job: "consume"; readonly side: string } & PassOptions)
  | ({ readonly job: "latency"; readonly side: string } & LatencyOptions)
  | ({ readonly job: "produce-paced" } & PacedOptions)
  | ({ readonly job: "idle"; readonly side: string } & IdleOptions)
  | ({ readonly job: "workers" } & WorkersOptions);

export interface PacedOptions {
  readonly brokers: string;
  readonly topic: string;
  readonly perSecond: number;
  readonly messages: number;
}

export interface PacedResult {
  readonly seconds: number;
}

export interface LatencyOptions {
  readonly brokers: string;
  readonly registryUrl: string;
  readonly topic: string;
  readonly messages: number;
  /** So many are not counted: V8 has not compiled everything yet. */
  readonly warmUpMessages: number;
}

export interface IdleOptions {
  readonly brokers: string;
  readonly registryUrl: string;
  readonly topic: string;
  readonly settleSeconds: number;
  readonly seconds: number;
}

export interface WorkersOptions {
  readonly driver: string;
  readonly brokers: string;
  readonly registryUrl: string;
  readonly topic: string;
  readonly workers: number;
  readonly messages: number;
}

export interface LatencyResult {
  readonly messages: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface IdleResult {
  readonly seconds: number;
  /** Of one core. */
  readonly share: number;
}

export interface WorkersResult {
  readonly messages: number;
  readonly seconds: number;
  readonly processorSeconds: number;
  readonly residentMiB: number;
}
