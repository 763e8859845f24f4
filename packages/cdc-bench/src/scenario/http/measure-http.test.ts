import { afterEach, expect, test, vi } from "vitest";
import type { Ask, Asked } from "./api-client.ts";
import { httpMetrics } from "./http-result.ts";
import { measureHttp } from "./measure-http.ts";

afterEach(() => void vi.restoreAllMocks());

const ask: Ask = { method: "GET", format: "json", encoding: "identity" };
const answered: Asked = {
  totalMs: 10,
  prepareMs: 0,
  waitMs: 10,
  transferMs: 0,
  decompressMs: 0,
  decodeMs: 0,
  serverMs: null,
  sentBytes: 2,
  plainBytes: 2,
  rows: [],
};

test("requests that Ctrl-C ends have the rate of the time that they took, and nothing that was not counted is 0", async () => {
  let nowMs = 1_000;
  vi.spyOn(performance, "now").mockImplementation(() => nowMs);
  const interrupt = new AbortController();
  let asked = 0;
  const client = {
    ask: async (): Promise<Asked> => {
      nowMs += 10;
      if (++asked === 5) {
        interrupt.abort();
        throw interrupt.signal.reason; // as a request that is given up
      }
      return answered;
    },
    close: () => {},
  };
  const plan = { asks: [ask], requests: 100, durationMs: null, warmupRequests: 0, concurrency: 1, blocks: 1, allocationRequests: 0 };
  const world = {
    client,
    api: null,
    check: null,
    interrupt: interrupt.signal,
    observer: { observe: () => {}, note: () => {}, end: () => {} },
  };
  const { responses } = await measureHttp(plan, world);
  expect(responses).toMatchObject([{ request: { count: 4 }, requestsPerSecond: 80 }]); // in 50 ms
  expect(responses).toMatchObject([{ allocatedBytes: null, allocatedByClientBytes: null }]);
  expect(httpMetrics(responses).map(({ name }) => name)).not.toContain("allocated");
});
