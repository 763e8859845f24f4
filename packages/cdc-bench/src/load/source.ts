import type { ClusterConnection, RegistryConnection } from "./connection.ts";

/** Topics of a cluster. */
export interface ClusterSource {
  readonly kind: "cluster";
  readonly connection: ClusterConnection;
  readonly topics: readonly string[];
  readonly registry: RegistryConnection | undefined;
}

/** A recording. */
export interface FileSource {
  readonly kind: "file";
  readonly file: string;
  readonly schemasFile: string | undefined;
  readonly registry: RegistryConnection | undefined;
}

/** Where messages come from. */
export type Source = ClusterSource | FileSource;

/** What a command does first, for its progress. */
export function openingPhase(source: Source): string {
  return source.kind === "cluster" ? connectingPhase(source.connection) : `reading ${source.file}`;
}

export function connectingPhase({ brokers }: ClusterConnection): string {
  return `connecting to ${brokers.join(", ")}`;
}
