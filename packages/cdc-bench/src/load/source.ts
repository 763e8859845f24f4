/** Topics of a cluster. */
export interface ClusterSource {
  readonly kind: "cluster";
  readonly brokers: readonly string[];
  readonly topics: readonly string[];
  readonly registryUrl: string | undefined;
}

/** A recording. */
export interface FileSource {
  readonly kind: "file";
  readonly file: string;
  readonly schemasFile: string | undefined;
  readonly registryUrl: string | undefined;
}

/** Where messages come from. */
export type Source = ClusterSource | FileSource;
