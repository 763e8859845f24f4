import type { Admin } from "kafkajs";

/** Deletes a group. Resolves with the brokers' code for why they do not: `NON_EMPTY_GROUP`, `GROUP_AUTHORIZATION_FAILED`. Null: it is gone. */
export async function deleteGroup(admin: Pick<Admin, "deleteGroups">, groupId: string): Promise<string | null> {
  const code = await admin.deleteGroups([groupId]).then(() => null, codeOf);
  return code === "GROUP_ID_NOT_FOUND" ? null : code;
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
