import type { DecodeErrorCount, FormatMeasure } from "../../measure/decode-meter.ts";
import type { DriverWait } from "../../measure/driver-waits.ts";
import type { ClusterConnection, RegistryConnection } from "../../load/connection.ts";

/** What a process is given, over its own pipe: it may hold a login, which a command line would show to everybody. */
export interface MemberSetup {
  readonly connection: ClusterConnection;
  readonly registry: RegistryConnection | undefined;
  readonly topics: readonly string[];
  readonly groupId: string;
}

/** `begin`: the group is complete, records are handled from now on. */
export type ToMember = { readonly kind: "join"; readonly setup: MemberSetup } | { readonly kind: "begin" } | { readonly kind: "stop" };

/** What a process has handled so far. Times are milliseconds since the epoch: they are compared with those of other processes. */
export interface MemberProgress {
  readonly events: number;
  readonly records: number;
  readonly bytes: number;
  readonly errorRecords: number;
  /** How long a record has waited for a schema that the registry does not give; 0 if none does. */
  readonly registryAwayMs: number;
  /** What its driver has waited for, for a second or more. Null if it does not wait. */
  readonly waitsFor: DriverWait | null;
  /** Null before the first event. */
  readonly firstEventAtMs: number | null;
  readonly lastEventAtMs: number | null;
  /** Since `begin`. */
  readonly cpuMs: number;
  readonly maxRssBytes: number;
}

export interface MemberEnd extends MemberProgress {
  readonly formats: readonly FormatMeasure[];
  readonly errors: readonly DecodeErrorCount[];
}

export type FromMember =
  /** How many partitions it has now. */
  | { readonly kind: "assigned"; readonly partitions: number }
  | { readonly kind: "progress"; readonly progress: MemberProgress }
  /** Everything below these offsets is handled. */
  | { readonly kind: "committed"; readonly offsets: readonly CommittedPlace[] }
  | { readonly kind: "ended"; readonly end: MemberEnd }
  /** A sentence for the user. */
  | { readonly kind: "failed"; readonly detail: string };

export interface CommittedPlace {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
}
