import type { Admin } from "kafkajs";
import { setTimeout as pass } from "node:timers/promises";
import { isPassingCode } from "./passing-answers.ts";

const askAgainMs = 500;

/**
 * Deletes a group. Resolves with the brokers' code for why they do not: `NON_EMPTY_GROUP`, `GROUP_AUTHORIZATION_FAILED`. Null: it is gone. A
 * consumer that was killed, or stopped while it joined, stays a member until its session ends: so long it is asked again, `withinMs` at most.
 */
export async function deleteGroup(admin: Pick<Admin, "deleteGroups">, groupId: string, withinMs: number): Promise<string | null> {
  const deadlineMs = performance.now() + withinMs;
  while (true) {
    const code = await admin.deleteGroups([groupId]).then(() => null, codeOf);
    if (code === null || code === "GROUP_ID_NOT_FOUND") {
      return null;
    }
    const passes = code === "NON_EMPTY_GROUP" || isPassingCode(code);
    if (!passes || performance.now() > deadlineMs) {
      return code;
    }
    await pass(askAgainMs);
  }
}

/** The brokers' code for a user without the right to do it. */
export const groupDenied = "GROUP_AUTHORIZATION_FAILED";

/** Of kafkajs' error, or of the one for this group inside of it. */
function codeOf(error: unknown): string {
  const { groups, type, message } = error as {
    readonly groups?: readonly { readonly error?: { readonly type?: string } }[];
    readonly type?: string;
    readonly message?: string;
  };
  return groups?.[0]?.error?.type ?? type ?? message ?? String(error);
}
