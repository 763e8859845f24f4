/** What `http` does unless it is told: an answer of 6 MB of JSON, as published. */
export const httpDefaults = {
  suite: "avro-api",
  rows: 60_000,
  requests: 20,
  warmupRequests: 2,
  concurrency: 1,
  blocks: 5,
  allocationRequests: 3,
  maxBodyBytes: 268_435_456,
  timeoutMs: 60_000,
  quick: { requests: 5, rows: 6_000 },
} as const;

export const maxConcurrency = 256;
