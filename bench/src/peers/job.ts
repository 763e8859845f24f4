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
  /** The length of a window in which it is looked whether the process has settled. */
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
  /** So many are not counted: each thread compiles the same code. */
  readonly warmUpMessages: number;
  readonly brokerPid: number;
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
  /** The same in the windows before, until it had settled. */
  readonly settling: readonly number[];
}

/** Of the messages after the warm-up. */
export interface WorkersResult {
  readonly perSecond: number;
  /** Seconds of processor time a message, of all threads. */
  readonly processorSeconds: number;
  /** The same of the broker. Null where the system does not say it. */
  readonly brokerSeconds: number | null;
  /** Messages a second in each tenth of the pass, the warm-up too: whether the rate had settled. */
  readonly tenths: readonly number[];
  readonly residentMiB: number;
}
