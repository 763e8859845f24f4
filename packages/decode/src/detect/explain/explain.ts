import { skipByteOrderMark } from "../../encoding/json/byte-order-mark.ts";
import { isJsonObject, parseJson } from "../../encoding/json/parse.ts";
import type { TextEncoding } from "../../encoding/text-encoding.ts";
import type { CdcEvent } from "../../event.ts";
import type { Candidate } from "../../explanation.ts";
import type { Message, Side } from "../../framing/framing.ts";
import type { KafkaRecord } from "../../record.ts";
import type { Engine } from "../engine.ts";
import type { SideRoute } from "../route.ts";
import { emptyShape, shapeOf } from "../shape.ts";
import type { LearnedNames } from "../semantics/column-semantics.ts";

/** The result of decoding the record: its events and the routes of its two sides, or an error. */
export type Outcome =
  | {
      readonly events: readonly CdcEvent[];
      readonly routes: Readonly<Record<Side, SideRoute>>;
      readonly learned: LearnedNames;
      readonly error: null;
    }
  | { readonly error: Error };

/**
 * Every format of every layer, with the evidence for and against it. The winner is not decided here but taken from decoding itself, so that
 * the two cannot disagree. If the record does not decode, the framing that would have been tried is named as the winner.
 */
export function explainCandidates(record: KafkaRecord, engine: Engine, outcome: Outcome): readonly Candidate[] {
  const sides = (["key", "value"] as const).filter((side) => record[side] !== null && !isEmptyTombstone(record, side, outcome));
  return sides.flatMap((side) => explainSide(record, side, engine, outcome));
}

/** An empty value that the user has hinted to be a tombstone has no format to explain. */
function isEmptyTombstone(record: KafkaRecord, side: Side, outcome: Outcome): boolean {
  return side === "value" && record.value?.length === 0 && outcome.error === null && outcome.events[0]?.kind === "tombstone";
}

function explainSide(record: KafkaRecord, side: Side, engine: Engine, outcome: Outcome): Candidate[] {
  const bytes = engine.buffer(record[side] ?? Buffer.alloc(0));
  const message: Message = { side, bytes, start: 0, end: bytes.length, headers: record.headers, maxBytes: engine.limits.maxMessageBytes };
  const route = outcome.error === null ? outcome.routes[side] : null;
  const framings = explainFramings(message, engine, route);
  const framing = framings.find(({ won }) => won)?.name ?? engine.noFraming.name;
  const candidates = [...framings, ...explainEncodings(message, engine, route, framing, outcome)];
  return side === "key" ? candidates : [...candidates, ...explainEnvelopes(record, message, engine, route, outcome)];
}

function explainFramings(message: Message, engine: Engine, route: SideRoute | null): Candidate[] {
  const verdicts = byName(engine.formats.framings.map((framing) => ({ name: framing.name, evidence: framing.recognise(message) })));
  const winner = route?.framing ?? verdicts.find(({ evidence }) => evidence !== null)?.name;
  const said = { without: "it is not recognised", declined: "what it names does not read the message" };
  return judged(message.side, "framing", verdicts, winner, said, route?.declined ?? null);
}

interface Verdict {
  readonly name: string;
  /** The evidence by which the format was recognised, or null. */
  readonly evidence: string | null;
}

/** A format may have two forms (a framing in headers and before the payload). They are reported as one candidate with one name. */
function byName(forms: readonly Verdict[]): readonly Verdict[] {
  return [...new Set(forms.map(({ name }) => name))].map(
    (name) => forms.find((form) => form.name === name && form.evidence !== null) ?? { name, evidence: null },
  );
}

/**
 * Formats in the order in which they are asked. A format that was recognised and stands before the winner was asked first, and did not take
 * the message.
 */
function judged(
  side: Side,
  layer: Candidate["layer"],
  verdicts: readonly Verdict[],
  winner: string | undefined,
  said: { readonly without: string; readonly declined: string },
  declined: SideRoute["declined"] = null,
): Candidate[] {
  const place = verdicts.findIndex(({ name }) => name === winner);
  return verdicts.map(({ name, evidence }, i): Candidate => {
    if (i === place) {
      return { side, layer, name, won: true, evidence: evidence ?? "it read the message to its last byte" };
    }
    if (evidence !== null && name === declined?.framing) {
      return { side, layer, name, won: false, evidence: `${evidence}; ${declined.why}` };
    }
    const beaten = place === -1 || i < place ? said.declined : `${winner} is more specific`;
    return { side, layer, name, won: false, evidence: evidence === null ? said.without : `${evidence}; ${beaten}` };
  });
}

function explainEncodings(
  { side, bytes }: Message,
  engine: Engine,
  route: SideRoute | null,
  framing: string,
  outcome: Outcome,
): Candidate[] {
  const { schemaEncodings, textEncodings, plainEncodings } = engine.formats;
  const names = new Set([...schemaEncodings, ...textEncodings, ...plainEncodings].map(({ name }) => name));
  if (route !== null) {
    names.add(route.encoding);
  }
  return [...names].map((name): Candidate => {
    const won = name === route?.encoding;
    return {
      side,
      layer: "encoding",
      name,
      won,
      evidence: won
        ? whyWon(route, bytes, engine) + (side === "value" ? learnedIn(outcome) : "")
        : whyLost(name, bytes, engine, route, framing, outcome.error),
    };
  });
}

/** The columns of the event's rows whose semantics were learned, because the value does not say them. */
function learnedIn(outcome: Outcome): string {
  const event = outcome.error === null ? outcome.events[0] : undefined;
  const row = event?.kind === "change" ? (event.after ?? event.before) : event?.kind === "row" ? event.row : null;
  if (outcome.error !== null || row === null) {
    return "";
  }
  const { ofKey, ofTable } = outcome.learned;
  const reported = ([names, from]: readonly [readonly string[], string]): string => {
    const columns = names.filter((name) => Object.hasOwn(row, name));
    return columns.length === 0 ? "" : `; what ${columns.join(", ")} ${columns.length === 1 ? "means" : "mean"} was learned from ${from}`;
  };
  return reported([ofKey, "the key's schema"]) + reported([ofTable, "a schema change of the table"]);
}

function whyWon({ framing, encoding, schemaId, typeName, hasRuleSet }: SideRoute, bytes: Buffer, { formats, noFraming }: Engine): string {
  if (schemaId !== null) {
    const named = typeName === null ? "" : ` (${typeName})`;
    const after = framing === noFraming.name ? "" : `, after the ${framing} frame`;
    const ruled = hasRuleSet ? "; the registry keeps rules beside it, by which producers may have encrypted fields" : "";
    return `schema id ${schemaId}${named} consumes all payload bytes of ${bytes.length}${after}${ruled}`;
  }
  const text = formats.textEncodings.find(({ name }) => name === encoding);
  const raw = [formats.raw.text, formats.raw.bytes].find(({ name }) => name === encoding);
  if (text !== undefined || raw?.evidence !== undefined) {
    return text?.evidence.won(bytes.length) ?? raw?.evidence ?? "";
  }
  return framing === noFraming.name
    ? "hinted for this topic, and all bytes are one value"
    : `the ${framing} frame carries its schema, and holds no value`;
}

function whyLost(name: string, bytes: Buffer, engine: Engine, route: SideRoute | null, framing: string, error: Error | null): string {
  const text = engine.formats.textEncodings.find((encoding) => encoding.name === name);
  if (text !== undefined) {
    return route === null || route.schemaId === null ? whyNotText(text, bytes, engine) : `the payload is ${route.encoding}`;
  }
  if (engine.formats.plainEncodings.some((encoding) => encoding.name === name)) {
    return "read only if it is hinted for the topic";
  }
  if (framing === engine.noFraming.name) {
    return "no framing names a schema";
  }
  return route === null ? (error?.message ?? "the message did not decode") : `the payload is ${route.encoding}`;
}

function whyNotText(encoding: TextEncoding, bytes: Buffer, { formats: { textEncodings }, parse }: Engine): string {
  try {
    const parsed = parseJson(bytes, skipByteOrderMark(bytes, 0, bytes.length), bytes.length, parse);
    const written = textEncodings.find((one) => one.holds(parsed)) ?? encoding;
    if (written === encoding) {
      return encoding.evidence.misfit;
    }
    return textEncodings.indexOf(written) < textEncodings.indexOf(encoding) ? `${written.name} is more specific` : encoding.evidence.absent;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function explainEnvelopes(record: KafkaRecord, { bytes }: Message, engine: Engine, route: SideRoute | null, outcome: Outcome): Candidate[] {
  const shape = route?.shape ?? shapeOfText(record, bytes, engine);
  const verdicts = byName(engine.formats.envelopes.map((envelope) => ({ name: envelope.name, evidence: envelope.recognise(shape) })));
  // An envelope may decline a value that it recognised by its shape. The events say which envelope took the value.
  const opened = outcome.error === null ? outcome.events[0]?.envelope : undefined;
  // For a value that does not decode, the names of its fields may still show its envelope. If they show none, the value is not reported as
  // a row: it may be anything.
  const seen = verdicts.find(({ name, evidence }) => evidence !== null && name !== engine.noEnvelope.name)?.name;
  const declined = outcome.error === null ? "its values say otherwise" : "the message does not decode";
  return judged("value", "envelope", verdicts, opened ?? route?.envelope ?? seen, { without: "its fields are not there", declined });
}

/** The shape of a value that does not decode, as far as its text shows one. */
function shapeOfText(record: KafkaRecord, bytes: Buffer, engine: Engine): SideRoute["shape"] {
  const scope = { topic: record.topic, headerNames: record.headers.map(([name]) => name) };
  try {
    const parsed = parseJson(bytes, 0, bytes.length, engine.parse);
    return shapeOf({ type: null, names: isJsonObject(parsed) ? Object.keys(parsed) : null, isText: typeof parsed === "string" }, scope);
  } catch {
    return emptyShape(scope); // not JSON, so its fields are unknown
  }
}
