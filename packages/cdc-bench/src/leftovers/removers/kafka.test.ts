import { KafkaJSDeleteGroupsError, type KafkaJSProtocolError } from "kafkajs";
import { expect, test } from "vitest";
import { removeGroup } from "./kafka.ts";

const group = "killed";

/** Brokers that refuse to delete the group with one code after the other, and then do it. Real brokers answer so only while a coordinator moves. */
function refusing(codes: string[]): Parameters<typeof removeGroup>[0] {
  let isThere = true;
  return {
    listGroups: async () => ({ groups: isThere ? [{ groupId: group, protocolType: "consumer" }] : [] }),
    deleteGroups: async () => {
      const type = codes.shift();
      if (type !== undefined) {
        const error = Object.assign(new Error(type), { type }) as unknown as KafkaJSProtocolError;
        throw new KafkaJSDeleteGroupsError("Error in DeleteGroups", [{ groupId: group, errorCode: 1, error }]);
      }
      isThere = false;
      return [];
    },
  };
}

test.each(["GROUP_LOAD_IN_PROGRESS", "NOT_COORDINATOR_FOR_GROUP", "NON_EMPTY_GROUP"])(
  "a group is asked for again after %s",
  async (code) => {
    const codes = [code];
    await removeGroup(refusing(codes), group);
    expect(codes).toEqual([]);
  },
);

test("a refusal that stays is an error that says what is missing", async () => {
  const codes = ["GROUP_AUTHORIZATION_FAILED", "NON_EMPTY_GROUP"];
  await expect(removeGroup(refusing(codes), group)).rejects.toThrow("GROUP_AUTHORIZATION_FAILED): the login needs Delete on the group");
  expect(codes).toEqual(["NON_EMPTY_GROUP"]);
});
