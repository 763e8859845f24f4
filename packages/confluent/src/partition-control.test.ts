import { silentLogger } from "@cdckit/consumer";
import { expect, test } from "vitest";
import { heldPartitions } from "./assignments.ts";
import { GivingUp } from "./giving-up.ts";
import type { LowLevelConsumer, TopicPartition, TopicPartitionOffset } from "./low-level-client.ts";
import { PartitionControl } from "./partition-control.ts";

/** Partitions 0 and 1, which the client fetches from offset 0, and the calls that the client has got since then. */
function setUp() {
  const calls: string[] = [];
  const between: (() => void)[] = [];
  const afterCall: (() => void)[] = [];
  const refused = new Set<string>();
  const tell =
    (what: string) =>
    (places: readonly TopicPartition[]): void => {
      calls.push(`${what} ${places.map(({ partition }) => partition).join()}`);
      if (refused.has(what)) {
        throw new Error("Local: Erroneous state");
      }
    };
  /** By partition: the offset with which the client got it last. */
  const fetchedFrom = new Map<number, number>();
  const consumer = {
    incrementalAssign: (places: readonly TopicPartitionOffset[]): void => {
      tell("assign")(places);
      places.forEach(({ partition, offset }) => fetchedFrom.set(partition, offset));
    },
    incrementalUnassign: tell("unassign"),
    pause: tell("pause"),
    resume: tell("resume"),
  } as unknown as LowLevelConsumer; // as much as is asked
  const assignments = heldPartitions();
  const control = new PartitionControl({
    consumer,
    assignments,
    loop: { between: (work) => void between.push(work), afterCall: (work) => void afterCall.push(work) },
    logger: silentLogger,
  });
  /** What is done before the next call. */
  const untilCall = (): readonly string[] => {
    between.splice(0).forEach((work) => work());
    return calls.splice(0);
  };
  const passCalls = (): readonly string[] => {
    const passed = [...untilCall()];
    while (afterCall.length > 0) {
      between.push(...afterCall.splice(0));
      passed.push(...untilCall());
    }
    return passed;
  };
  const holding = (...partitions: readonly number[]) => {
    const added = assignments.heldOf(assignments.add(partitions.map((partition) => ({ topic: "rows", partition }))));
    added.forEach((held) => control.place(held, 0n));
    return added;
  };
  const [first, second] = holding(0, 1);
  if (first === undefined || second === undefined) {
    throw new Error("expected the partitions that were assigned");
  }
  passCalls();
  return { refused, fetchedFrom, untilCall, passCalls, holding, control, assignments, first, second };
}

test("the client gets no call about a partition that it does not fetch", () => {
  const { passCalls, holding } = setUp();
  holding(2);
  expect(passCalls()).toEqual(["assign 2", "resume 2"]);
});

test("while the client waits for partitions that it has asked for, others do not move", async () => {
  const { passCalls, holding, control, assignments, first, second } = setUp();
  let letGo = (): void => {};
  const revoked = (): Promise<void> => new Promise((resolve) => (letGo = resolve));
  const givingUp = new GivingUp({ sink: { revoked } as never, assignments, control, isOver: () => false });

  const going = givingUp.some([second], "revoked");
  control.place(first, 7n);
  holding(2);
  expect(passCalls()).toEqual([]);

  letGo();
  await going;
  expect(passCalls()).toEqual(["unassign 1", "unassign 0", "assign 0", "resume 0", "assign 2", "resume 2"]);
});

test("what moves is held back until the last of several answers", () => {
  const { passCalls, control, first, second } = setUp();
  control.asked();
  control.asked();
  control.place(first, 7n);
  passCalls();
  control.letGo([second]);
  expect(passCalls()).toEqual(["unassign 1"]);
  control.letGo([]);
  expect(passCalls()).toEqual(["unassign ", "unassign 0", "assign 0", "resume 0"]);
});

test("a move that the client takes for the answer to a revocation which has not come yet gives no partition away", () => {
  const { untilCall, passCalls, control, first, second } = setUp();
  control.place(first, 7n);
  expect(untilCall()).toEqual(["unassign 0"]);
  // The call brings the revocation of 1, which the client had queued before, and then the assignment that follows it.
  control.asked();
  control.accept();
  expect(passCalls()).toEqual([]);
  control.letGo([second]);
  expect(passCalls()).toEqual(["unassign 1", "assign ", "assign 0", "resume 0"]);
});

test("nor does another partition that is given to the client meanwhile", () => {
  const { untilCall, passCalls, holding, control, first } = setUp();
  control.place(first, 7n);
  holding(2);
  expect(untilCall()).toEqual(["unassign 0"]);
  control.asked();
  expect(passCalls()).toEqual([]);
});

test("a partition that is moved twice at once is moved once", () => {
  const { passCalls, control, first } = setUp();
  control.place(first, 7n);
  control.place(first, 9n);
  expect(passCalls()).toEqual(["unassign 0", "assign 0", "resume 0"]);
  expect(first).toMatchObject({ next: 9, isPlaced: true, isStarting: false });
  control.retry();
  expect(passCalls()).toEqual([]);
});

test.each([
  ["its last record, which shows whether the log still has it", { offset: 6, leaderEpoch: 1 }, 6n, 6],
  ["its position, if no record is known", null, 0n, 7],
  ["its position, if the log begins after its last record", { offset: 6, leaderEpoch: 1 }, 7n, 7],
])("a partition that goes on where it was is fetched from %s, also if the client refuses it at first", (_, last, low, from) => {
  const { refused, fetchedFrom, passCalls, control, first } = setUp();
  control.place(first, 7n);
  passCalls();
  first.last = last;
  refused.add("assign");
  control.placeAgain(first, low);
  expect(passCalls()).toEqual(["unassign 0", "assign 0"]);
  refused.clear();
  control.retry();
  expect(passCalls()).toEqual(["assign 0", "resume 0"]);
  expect([first.next, first.last, fetchedFrom.get(0)]).toEqual([7, last, from]);
});

test("a partition that is given up late is not taken from the client if it has a newer assignment", () => {
  const { passCalls, holding, control, second } = setUp();
  control.asked();
  const [newer] = holding(1);
  control.letGo([second]);
  expect(passCalls()).toEqual(["unassign ", "unassign 1", "assign 1", "resume 1"]);
  expect(newer).toMatchObject({ isPlaced: true, isStarting: false });
});

test.each([
  ["given", "assign", ["unassign 0", "assign 0"], ["assign 0", "resume 0"]],
  ["taken", "unassign", ["unassign 0"], ["unassign 0", "assign 0", "resume 0"]],
])("a partition that could not be %s moves with the next report", (_, what, before, after) => {
  const { refused, passCalls, control, first } = setUp();
  refused.add(what);
  control.place(first, 7n);
  expect(passCalls()).toEqual(before);

  refused.clear();
  control.retry();
  expect(passCalls()).toEqual(after);
  expect(first).toMatchObject({ next: 7, isPlaced: true, isStarting: false });
  control.retry();
  expect(passCalls()).toEqual([]);
});
