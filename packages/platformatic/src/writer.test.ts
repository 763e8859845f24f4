import type { OutgoingRecord } from "@cdckit/consumer";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Cluster } from "./cluster.ts";
import { codes } from "./low-level-client.ts";
import { Writer } from "./writer.ts";

/**
 * A writer, and what it asks its cluster: requests with the ids of their producers. `answers`: to such a request, or to `metadata`: who leads the
 * partition; what is left out is answered at once.
 */
function setUp(answers: Readonly<Record<string, () => unknown>>) {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const log: string[] = [];
  const failed: unknown[] = [];
  let producers = 0;
  const answerOf: Readonly<Record<string, (producerId: bigint) => unknown>> = {
    InitProducerId: (producerId) => ({ producerId, producerEpoch: 0 }),
    Produce: () => ({ responses: [{ name: "t", partitionResponses: [{ index: 0, errorCode: 0 }] }] }),
  };
  const ask = async (_at: unknown, _purpose: unknown, name: string, values: readonly unknown[]): Promise<unknown> => {
    const { producerId = BigInt(producers++) } = (values[3] ?? {}) as { readonly producerId?: bigint };
    log.push(`${producerId} ${name}`);
    await answers[`${producerId} ${name}`]?.();
    return answerOf[name]?.(producerId);
  };
  const metadata = async () => {
    const leaderId = (await answers["metadata"]?.()) ?? 1;
    return { topics: [{ name: "t", partitions: [{ partitionIndex: 0, leaderId }] }] };
  };
  const at = { host: "broker", port: 1 };
  const node = (id: number) => (id < 0 ? undefined : at);
  const cluster = { ask, metadata, node, anywhere: (one: (to: typeof at) => unknown) => one(at) } as unknown as Cluster; // as much as is called
  const writer = new Writer(cluster, new AbortController().signal);
  const record: OutgoingRecord = { topic: "t", key: null, value: Buffer.from("v"), headers: [], partition: 0 };
  const send = (): Promise<string> =>
    writer.send([record]).then(
      () => "written",
      (error: unknown) => {
        failed.push(error);
        return (error as Error).message;
      },
    );
  return { send, log, failed };
}

/** An answer that comes when the test says so. */
function heldBack() {
  let goOn = (): void => {};
  const answer = (): Promise<void> => new Promise((resolve) => (goOn = resolve));
  return { answer, goOn: () => goOn() };
}

test("a producer whose write was given up writes nothing more: the broker would drop the next record as a repetition", async () => {
  const { send, log } = setUp({ "0 Produce": heldBack().answer });
  const first = send();
  await vi.advanceTimersByTimeAsync(40_000);
  expect(await first).toContain("no answer within 40000 ms");
  expect([await send(), await send()]).toEqual(["written", "written"]);
  expect(log).toEqual(["0 InitProducerId", "0 Produce", "1 InitProducerId", "1 Produce", "1 Produce"]);
});

test("the write that waits for one that is given up has a producer of its own", async () => {
  const { send, log } = setUp({ "0 Produce": heldBack().answer });
  const both = [send(), send()];
  await vi.advanceTimersByTimeAsync(40_000);
  expect(await Promise.all(both)).toEqual([expect.stringContaining("no answer"), "written"]);
  expect(log.at(-1)).toBe("1 Produce");
});

test("a producer that begins after its write was given up is not used", async () => {
  const { answer, goOn } = heldBack();
  const { send, log } = setUp({ "0 InitProducerId": answer });
  const first = send();
  await vi.advanceTimersByTimeAsync(40_000);
  expect(await first).toContain("no answer");
  expect(await send()).toBe("written");
  goOn();
  await vi.advanceTimersByTimeAsync(0);
  expect(await send()).toBe("written");
  expect(log.filter((line) => line.startsWith("0"))).toEqual(["0 InitProducerId"]);
});

test("a write that was given up while it looked for leaders is not sent afterwards", async () => {
  const { answer, goOn } = heldBack();
  const { send, log } = setUp({ metadata: answer });
  const first = send();
  await vi.advanceTimersByTimeAsync(40_000);
  expect(await first).toContain("no answer");
  goOn();
  await vi.advanceTimersByTimeAsync(0);
  goOn();
  await vi.advanceTimersByTimeAsync(0);
  expect(log).toEqual(["0 InitProducerId"]);
});

test("a broker that has no producer id yet, as for the first producer after its start, is asked again", async () => {
  const answers = [Object.assign(new Error("the coordinator is loading"), { apiCode: codes.coordinatorLoading })];
  const { send, log } = setUp({
    "0 InitProducerId": () => {
      const [failure] = answers.splice(0);
      return failure === undefined ? undefined : Promise.reject(failure);
    },
  });
  const sent = send();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await sent).toBe("written");
  expect(log).toEqual(["0 InitProducerId", "1 InitProducerId", "1 Produce"]);
});

test("brokers that do not answer for some seconds are asked again, and one that refuses the login is not", async () => {
  const away = Object.assign(new Error("Connection to broker:1 failed."), { code: "PLT_KFK_NETWORK" });
  const failures = [away, away];
  const refused = Object.assign(new Error("SASL authentication failed"), { code: "PLT_KFK_AUTHENTICATION" });
  const failNext = (): unknown => {
    const [failure] = failures.splice(0, 1);
    return failure === undefined ? undefined : Promise.reject(failure);
  };
  const { send, log } = setUp({ "0 InitProducerId": failNext, metadata: failNext });
  const sent = send();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await sent).toBe("written");
  expect(log).toEqual(["0 InitProducerId", "1 InitProducerId", "1 Produce"]);
  failures.push(refused);
  expect(await send()).toContain("SASL authentication failed");
});

test("a write that the client cannot put into bytes is no matter of brokers that are away", async () => {
  const { send, failed, log } = setUp({ "0 Produce": () => Promise.reject(new RangeError("the value is out of range")) });
  expect(await send()).toContain("the value is out of range");
  expect(log).toEqual(["0 InitProducerId", "0 Produce"]); // it is not tried again, because nothing about it would change
  expect(failed).toMatchObject([{ code: "send-failed", cause: { name: "RangeError" } }]);
});

test("a broker that refuses the login of a write is not asked again and again", async () => {
  const refused = Object.assign(new Error("SASL authentication failed"), { code: "PLT_KFK_AUTHENTICATION" });
  const { send, log } = setUp({ "0 Produce": () => Promise.reject(refused) });
  expect(await send()).toContain("SASL authentication failed");
  expect(log).toEqual(["0 InitProducerId", "0 Produce"]);
});

test("a partition that has no leader for too long is an error that says so, of the kind that passes when its broker is back", async () => {
  const { send, log, failed } = setUp({ metadata: () => -1 });
  const sent = send();
  await vi.advanceTimersByTimeAsync(21_000);
  expect(await sent).toBe(
    "[send-failed] writing to t failed: no broker leads t[0]: those that have its replicas have been down for 20000 ms",
  );
  expect(failed).toMatchObject([{ cause: { code: "send-failed", cause: { code: "brokers-unreachable" } } }]);
  expect(log).toEqual(["0 InitProducerId"]);
});
