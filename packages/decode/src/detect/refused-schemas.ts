import { BoundedMap } from "../bounded-map.ts";
import { DecodeError, isDecodeError } from "../errors.ts";
import type { RegisteredSchema, SchemaId } from "../schema-source.ts";

/** Each entry keeps the text of its schema alive, which may have megabytes. */
const maxRefused = 16;

interface Refused {
  readonly registered: RegisteredSchema;
  readonly error: DecodeError;
}

/**
 * The schemas whose text cannot be used, with the reason. Without it, each message of such a schema would parse its text again: five bytes
 * would cost as much as a schema of the greatest length.
 */
export class RefusedSchemas {
  readonly #refused: BoundedMap<SchemaId, Refused> = new BoundedMap(maxRefused);

  /**
   * Parses a schema, unless this text was refused before under the same key: then it throws the same error. A source may hand out another
   * text later, which is parsed.
   */
  parse<Parsed>(key: SchemaId, registered: RegisteredSchema, parse: () => Parsed): Parsed {
    const refused = this.#refused.get(key);
    if (refused !== undefined && isSame(refused.registered, registered)) {
      throw new DecodeError(refused.error.code, refused.error.detail);
    }
    try {
      return parse();
    } catch (error) {
      if (isDecodeError(error)) {
        this.#refused.set(key, { registered, error });
      }
      throw error;
    }
  }
}

function isSame(one: RegisteredSchema, other: RegisteredSchema): boolean {
  if (one === other) {
    return true;
  }
  const [references, others] = [one.references ?? [], other.references ?? []];
  return (
    one.schema === other.schema &&
    references.length === others.length &&
    references.every(({ name, schema }, i) => name === others[i]?.name && schema === others[i]?.schema)
  );
}
