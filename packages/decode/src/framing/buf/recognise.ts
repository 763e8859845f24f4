import type { Framing, Message } from "../framing.ts";
import { lastHeaderText } from "../last-header.ts";

/**
 * The Buf Schema Registry. Headers name a Protobuf message and the commit of the module that contains it. The message is the payload alone.
 * To read such topics, the user provides the `.proto` text under the id `buf:<commit>`.
 */
export const buf: Framing = {
  name: "buf",
  headerNames: ["buf.registry.key.schema.commit", "buf.registry.value.schema.commit"],
  recognise: (message) => {
    const named = namesOf(message);
    return named === null ? null : `headers name the message ${named.name} of commit ${named.commit}`;
  },
  open: (message) => {
    const { bytes, start, end } = message;
    const { name, commit } = namesOf(message) ?? { name: "", commit: "" };
    return { schemaId: `buf:${commit}`, message: { kind: "name", name }, payloads: [{ bytes, start, end, count: 1 }] };
  },
};

function namesOf({ headers, side }: Message): { readonly name: string; readonly commit: string } | null {
  const commit = lastHeaderText(headers, `buf.registry.${side}.schema.commit`);
  const name = lastHeaderText(headers, `buf.registry.${side}.schema.message`);
  return commit !== null && name !== null && /^[0-9A-Za-z_-]{1,64}$/.test(commit) && /^[\w.]{1,512}$/.test(name) ? { name, commit } : null;
}
