/** What `roundtrip` does unless it is told: 100 rounds of one object of 3 kB, as published. */
export const roundtripDefaults = {
  suite: "ratings",
  /** Of suites that have many. */
  rows: 1_000,
  rounds: 100,
  warmupRounds: 20,
  inFlight: 16,
  blocks: 5,
  timeoutMs: 30_000,
  memoryRounds: 5,
  memoryMinMs: 50,
  quick: { rounds: 20, memoryRounds: 3, memoryMinMs: 10 },
} as const;

/** Everything that is in flight at once is held in memory on both sides. */
export const maxValuesInFlight = 4_096;
export const maxThreads = 64;
