import { compileAvroReader } from "../encoding/avro/reader.ts";
import { parseAvroSchema } from "../encoding/avro/schema.ts";
import { Deferred, type PayloadReader, readEverything } from "../encoding/reader.ts";
import { type Type, withoutNull } from "../encoding/type.ts";
import type { SourceHead } from "../envelope/debezium/plan.ts";
import { none } from "../envelope/none/envelope.ts";
import { isBlock } from "../envelope/source.ts";
import { DecodeError, isDecodeError } from "../errors.ts";
import { frameLength } from "../framing/confluent/recognise.ts";
import type { RegisteredSchema, SchemaId } from "../schema-source.ts";
import { BoundedMap } from "./bounded-map.ts";
import { type Engine, envelopeFor } from "./engine.ts";
import { belongsToTable, belongsToTopic, debeziumNamespace, identityError } from "./schema-identity.ts";
import { shapeOfType } from "./shape.ts";
import type { SideRoute, SideScope } from "./side-route.ts";

interface FramedRoute extends SideRoute {
  readonly reader: PayloadReader;
}

/** Returned instead of a value while its schema is not at hand. */
export const schemaPending: unique symbol = Symbol("schema pending");

/** Reads one side of a topic whose messages name their schema by Confluent's prefix. One reader is compiled for each schema id. */
export class FramedSide {
  /** How the last value was read; null before the first. */
  route: FramedRoute | null = null;
  readonly #engine: Engine;
  readonly #scope: SideScope;
  readonly #routes: BoundedMap<SchemaId, FramedRoute>;
  /** The last source head whose table was found to belong to its schema: one object for as long as the table stays. */
  #checkedHead: SourceHead | null = null;

  constructor(engine: Engine, scope: SideScope) {
    this.#engine = engine;
    this.#scope = scope;
    this.#routes = new BoundedMap(engine.limits.maxSchemas);
  }

  /** The value of a framed message, or {@link schemaPending} where its schema must be loaded first. */
  read(id: number, bytes: Uint8Array, start: number, end: number): unknown {
    let route = this.route;
    if (route === null || route.schemaId !== id) {
      const known = this.#routes.get(id) ?? this.#compile(id);
      if (known === schemaPending) {
        return schemaPending;
      }
      route = known;
      this.route = route;
    }
    try {
      const value = route.reader.read(bytes, start + frameLength, end);
      if (route.namespaceToCheck !== null && this.#scope.side === "value") {
        this.#checkIdentity(value, id, route, route.namespaceToCheck);
      }
      return value;
    } catch (error) {
      throw this.#explained(error, route, id);
    }
  }

  #compile(id: number): FramedRoute | typeof schemaPending {
    const { schemas, limits } = this.#engine;
    if (schemas === null) {
      throw new DecodeError(
        "schema-not-found",
        `expected a source for schema id ${id}, found none: pass schemas to createDecoder (createRegistry or fromBundle of @cdckit/registry)`,
      );
    }
    const registered = schemas.peek(id);
    if (registered === undefined) {
      return schemaPending;
    }
    const route = this.#routeFor(id, avroType(registered, limits));
    this.#routes.set(id, route);
    return route;
  }

  #routeFor(id: number, type: Type): FramedRoute {
    const record = withoutNull(type);
    const typeName = record.kind === "record" ? record.name : null;
    const { topic, side, trustsSchemas } = this.#scope;
    const shape = shapeOfType(type, this.#scope);
    const opens = side === "key" ? none : envelopeFor(shape);
    const plan = side === "key" ? readEverything : opens.planFor(shape);
    const namespace = debeziumNamespace(typeName);
    const isKnown = namespace === null || trustsSchemas || belongsToTopic(namespace, topic);
    return {
      framing: "confluent",
      encoding: "avro",
      envelope: opens.name,
      schemaId: id,
      opens,
      shape,
      typeName,
      reader: compileAvroReader(type, this.#engine.compileOptions(plan)),
      namespaceToCheck: isKnown ? null : namespace,
    };
  }

  #checkIdentity(value: unknown, id: number, route: FramedRoute, namespace: string): void {
    const source = isBlock(value) ? value["source"] : undefined;
    if (!(source instanceof Deferred) || source.peeked === this.#checkedHead) {
      return; // without a table in the bytes, the schema is all that there is to go by
    }
    const head = source.peeked as SourceHead;
    if (head.table.name !== "" && !belongsToTable(namespace, head.table)) {
      throw identityError(id, route.typeName, `and the message is of another table, on topic ${this.#scope.topic}`);
    }
    this.#checkedHead = head;
  }

  /** A schema that is not the topic's and does not fit is most likely not the one that the message was written with. */
  #explained(error: unknown, route: FramedRoute, id: number): unknown {
    const isMisfit = isDecodeError(error) && error.code !== "schema-mismatch" && route.namespaceToCheck !== null;
    return isMisfit
      ? identityError(id, route.typeName, `which does not fit these bytes (${error.code}) and is not named after the topic`, error)
      : error;
  }
}

function avroType(registered: RegisteredSchema, limits: Engine["limits"]): Type {
  if (registered.schemaType !== "AVRO") {
    throw new DecodeError(
      "unsupported-format",
      `expected an Avro schema under id ${registered.id}, found one of type ${registered.schemaType}, which is not supported yet`,
    );
  }
  return parseAvroSchema(registered.schema, registered.references ?? [], limits);
}
