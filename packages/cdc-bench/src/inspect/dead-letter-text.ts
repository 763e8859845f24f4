import type { DeadLetterOrigin } from "@cdckit/consumer";
import type { Mask } from "./mask.ts";

/** Where a dead letter comes from, and why it is one: sentences without their full stops. */
export function deadLetterLines(origin: DeadLetterOrigin, mask: Mask): readonly string[] {
  return [`dead letter of ${placeOf(origin)}${writerText(origin)}`, reasonText(origin, mask)];
}

/** The same for `--json`. */
export function deadLetterFields(origin: DeadLetterOrigin, mask: Mask): Readonly<Record<string, unknown>> {
  const { writer, topic, partition, offset, timestamp, groupId, stage, exception, attempts, schemaId, parkedBehind } = origin;
  const failed = { name: exception.name, message: messageOf(origin, mask) };
  return { writer, topic, partition, offset, timestamp, groupId, stage, exception: failed, attempts, schemaId, parkedBehind };
}

function placeOf({ topic, partition, offset }: DeadLetterOrigin): string {
  return `${topic}${partition === null ? "" : `[${partition}]`}${offset === null ? "" : `@${offset}`}`;
}

const writers: Readonly<Record<DeadLetterOrigin["writer"], string>> = {
  cdckit: "group",
  connect: "Kafka Connect",
  spring: "Spring, group",
};

function writerText({ writer, groupId, stage, attempts }: DeadLetterOrigin): string {
  const parts = [
    ...(groupId === null ? [] : [`${writers[writer]} ${groupId}`]),
    ...(stage === null || writer === "cdckit" ? [] : [`stage ${stage}`]),
    ...(attempts === null || attempts === 0 ? [] : [attempts === 1 ? "1 attempt" : `${attempts} attempts`]),
  ];
  return parts.length === 0 ? "" : ` (${parts.join(", ")})`;
}

function reasonText(origin: DeadLetterOrigin, mask: Mask): string {
  const { exception, parkedBehind } = origin;
  if (parkedBehind !== null) {
    return `parked behind the dead letter of offset ${parkedBehind}, which has the same key`;
  }
  return `failed with ${[exception.name, messageOf(origin, mask)].filter((part) => part !== null).join(": ") || "a reason that its writer left out"}`;
}

/** Our own consumer writes messages without values. */
function messageOf({ writer, exception: { message } }: DeadLetterOrigin, mask: Mask): string | null {
  return message === null || writer === "cdckit" ? message : mask.quote(message);
}
