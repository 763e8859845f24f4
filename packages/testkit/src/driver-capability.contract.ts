import type { CapabilityName } from "@cdckit/consumer";
import { join, lines, text, topicOf, type Trial, type TrialOf } from "./driver-trial.ts";
import { outgoing } from "./driver-write.contract.ts";
import { commitOf } from "./probe-sink.ts";

/** What a capability is if a driver does not say. */
const defaults: Readonly<Partial<Record<CapabilityName, boolean>>> = { nullHeaders: true };
const names: readonly CapabilityName[] = [
  "metadataCommit",
  "topicIds",
  "cooperative",
  "awaitsRevoked",
  "kip848",
  "leaderEpoch",
  "crc",
  "offsetResetNone",
  "reportsStart",
  "staticMembership",
  "nullHeaders",
];

/** Whether a driver says that it has the capability. */
export function has(capabilities: Readonly<Partial<Record<CapabilityName, boolean>>>, name: CapabilityName): boolean {
  return capabilities[name] ?? defaults[name] ?? false;
}

/** What holds of capabilities for every driver. */
export const capabilityTrials: Readonly<Record<string, Trial>> = {
  "what the client lacks has its reason, and what it has needs none": async (harness, { expect }) => {
    const { capabilities } = harness.driver();
    const explained = names.filter((name) => (capabilities.reasons?.[name] ?? "") !== "");
    expect(explained).toEqual(names.filter((name) => !has(capabilities, name)));
  },

  "records are read in every compression that the capabilities name": async (harness, { expect }) => {
    for (const codec of harness.driver().capabilities.codecs) {
      const topic = harness.uniqueName(`contract-${codec}`);
      await harness.createTopic(topic, 1, codec);
      const sent = lines(0, 200).map((line, i) => ({ ...line, value: `${i} ${"compressed ".repeat(i)}` }));
      await harness.produce(topic, sent);
      await harness.produceInTransaction(topic, sent, "abort");
      await harness.produce(topic, lines(0, 1));
      const { sink, session } = await join(harness, { topics: [topic] });
      await sink.until(({ records, failures }) => records.length > sent.length || failures.length > 0);
      expect([sink.failures, sink.records.map(({ value }) => text(value))]).toEqual([[], [...sent.map(({ value }) => value), "line 0"]]);
      await session.close(5_000);
    }
  },
};

/** What holds of clients that have a capability. */
export const trialsByCapability: Readonly<Record<string, TrialOf>> = {
  "a header without a value is sent as one": {
    needs: "nullHeaders",
    trial: async (harness, { expect }) => {
      const topic = await topicOf(harness, 1);
      const { session } = await join(harness, { topics: [topic] });
      await session.send?.([outgoing(topic, { headers: [["none", null]] })]);
      const reader = await join(harness, { topics: [topic] });
      await reader.sink.until(({ records }) => records.length >= 1);
      expect(reader.sink.records[0]?.headers).toEqual([["none", null]]);
      await Promise.all([session.close(5_000), reader.session.close(5_000)]);
    },
  },

  "a static member that comes back within its session takes nothing from another, and goes on": {
    needs: "staticMembership",
    trial: async (harness, { expect }) => {
      const topic = await topicOf(harness, 4);
      const groupId = harness.uniqueName("group");
      const member = (groupInstanceId: string) => join(harness, { topics: [topic], groupId, groupInstanceId });
      const first = await member("one");
      await first.sink.until(({ held }) => held.length === 4);
      const second = await member("two");
      await Promise.all([first, second].map(({ sink }) => sink.until(({ held }) => held.length === 2)));
      const before = second.sink.held.map(({ partition }) => partition).sort((a, b) => a - b);
      const revoked = first.sink.revocations.length;
      await harness.produce(
        topic,
        [0, 1, 2, 3].flatMap((partition) => lines(partition, 2)),
      );
      await second.sink.until(({ records }) => records.length >= 4);
      await second.session.commit(second.sink.held.map((assignment) => ({ assignment, offset: 1n })));
      await second.session.close(5_000);
      const again = await member("two");
      await again.sink.until(({ records }) => records.length >= 2);
      expect([
        again.sink.held.map(({ partition }) => partition).sort((a, b) => a - b),
        again.sink.records.map(({ offset }) => offset),
      ]).toEqual([before, [1n, 1n]]);
      expect([first.sink.revocations.length, first.sink.held.length, first.sink.failures]).toEqual([revoked, 2, []]);
      await Promise.all([first.session.close(5_000), again.session.close(5_000)]);
    },
  },

  "a static member whose id another one takes fails with the reason, and commits nothing any more": {
    needs: "staticMembership",
    except: { capability: "kip848", reason: "in groups of KIP-848 the earlier member keeps the id until its session is over" },
    trial: async (harness, { expect }) => {
      const topic = await topicOf(harness, 1);
      const groupId = harness.uniqueName("group");
      await harness.produce(topic, lines(0, 4));
      const first = await join(harness, { topics: [topic], groupId, groupInstanceId: "one" });
      await first.sink.until(({ records }) => records.length >= 4);
      const late = first.sink.batches.map(commitOf);
      const second = await join(harness, { topics: [topic], groupId, groupInstanceId: "one" });
      await first.sink.until(({ failures }) => failures.length > 0);
      const failure = first.sink.failures[0] as Error & { readonly code?: unknown };
      const says = `${String(failure.code)}: ${failure.message}`;
      expect(/^fenced: .*groupInstanceId/s.test(says) ? "fenced" : says).toEqual("fenced");
      await first.session.commit(late).catch(() => {});
      await first.session.close(5_000);
      expect(await harness.committed(groupId, topic, 0)).toEqual(null);
      await second.sink.until(({ records }) => records.length >= 4);
      await second.session.commit(second.sink.held.map((assignment) => ({ assignment, offset: 3n })));
      expect(await harness.committed(groupId, topic, 0)).toEqual(3n);
      await second.session.close(5_000);
    },
  },
};
