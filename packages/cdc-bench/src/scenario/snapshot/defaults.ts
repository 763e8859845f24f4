/** What `snapshot` and `create-table` do if flags do not say otherwise. No imports: `--help` shows these. */
export const defaultRows = 2_000_000;
export const defaultRounds = 3;
export const defaultTailRowsPerSecond = 200;
export const defaultTailMs = 5_000;
export const defaultTableName = "salesorderdetail";
export const compressionMessages = 5_000;
export const quick = { rows: 20_000, rounds: 1, tailMs: 2_000, compressionMessages: 1_000 } as const;
