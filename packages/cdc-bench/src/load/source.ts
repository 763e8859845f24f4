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
