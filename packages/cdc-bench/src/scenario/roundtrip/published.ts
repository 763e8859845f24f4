/** A row of the published table, and the codec of ours that does the same. Figures are copied, never measured here. */
export interface PublishedRoundtrip {
  readonly published: string;
  readonly codec: string;
  readonly sizeBytes: number;
  readonly serializeMs: number;
  readonly deserializeMs: number;
  /** Of 100 rounds. */
  readonly totalMs: number;
  readonly avgMs: number;
}

/** JSON by Jackson against Protobuf, over Redis. */
export const publishedRoundtrip: readonly PublishedRoundtrip[] = [
  { published: "Jackson JSON", codec: "json", sizeBytes: 3_068, serializeMs: 6_531, deserializeMs: 8_969, totalMs: 85, avgMs: 0.85 },
  {
    published: "Protobuf",
    codec: "protobuf (protobufjs)",
    sizeBytes: 3_372,
    serializeMs: 8_615,
    deserializeMs: 16_989,
    totalMs: 31,
    avgMs: 0.31,
  },
];
