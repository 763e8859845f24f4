import type { PartitionAssignment } from "@cdckit/consumer";
import { expect, onTestFinished, test } from "vitest";
import type { HeldPartitions } from "./assignments.ts";
import { CommitRequests } from "./commit-requests.ts";
import type { LowLevelConsumer } from "./low-level-client.ts";

const assignment: PartitionAssignment = { topic: "t", partition: 0, epoch: 1 };

function requestsOf(consumer: Pick<LowLevelConsumer, "commitCb">): CommitRequests {
  return new CommitRequests({
    consumer: consumer as LowLevelConsumer, // nothing else of it is called
    assignments: { isCurrent: () => true } as unknown as HeldPartitions, // nor of these
    refused: () => {},
    ended: new AbortController().signal,
  });
}

test("an answer that comes too late is none to the commit after it", async () => {
  const requests = requestsOf({ commitCb: (_offsets, done) => done(null, undefined) });
  let isDone = false;
  const sent = requests.send([{ assignment, offset: 7n }]).then(() => (isDone = true));
  requests.answered(undefined, [{ topic: "t", partition: 0, offset: 6 }]);
  await new Promise(setImmediate);
  expect(isDone).toBe(false);
  requests.answered(undefined, [{ topic: "t", partition: 0, offset: 7 }]);
  await sent;
});

test("a refusal that is read before the client has said that the request was queued rejects the commit, and nothing else", async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on("unhandledRejection", note);
  onTestFinished(() => void process.off("unhandledRejection", note));
  const fatal = Object.assign(new Error("Local: Fatal error"), { code: -150 });
  // librdkafka calls back in this order where another member has taken the `group.instance.id`.
  const consumer: Pick<LowLevelConsumer, "commitCb"> = {
    commitCb: (_offsets, done) => {
      requests.answered(fatal, undefined);
      setImmediate(() => setImmediate(() => done(null, undefined)));
    },
  };
  const requests = requestsOf(consumer);
  await expect(requests.send([{ assignment, offset: 1n }])).rejects.toMatchObject({ code: "commit-failed", cause: fatal });
  expect(unhandled).toEqual([]);
});
