import {
  type Anatomy,
  anyText,
  edgeNumbers,
  oddVarints,
  otherLetter,
  otherVarint,
  type Part,
  type DeclaredLength,
  varintAt,
  zigZag,
} from "./anatomy.ts";
import type { Random } from "./random.ts";

type Schema = string | readonly Schema[] | { readonly type: Schema; readonly [name: string]: unknown };

/** Where a value begins by its schema; null where it does not end with the bytes. Found by walking it as the specification says. */
export function avroAnatomy(bytes: Buffer, start: number, schema: string): Anatomy | null {
  const walk = new Walk(bytes, start);
  try {
    walk.value(JSON.parse(schema) as Schema, "", null);
  } catch (error) {
    if (error instanceof NoValue) {
      return null;
    }
    throw error;
  }
  return walk.at === bytes.length ? { parts: walk.parts, edge: avroEdge, similar: similarAvro } : null;
}

class NoValue extends Error {}

const maxParts = 4_000;

class Walk {
  readonly parts: Part[] = [];
  at: number;
  readonly #bytes: Buffer;
  readonly #named = new Map<string, { readonly schema: Schema; readonly namespace: string }>();

  constructor(bytes: Buffer, start: number) {
    this.#bytes = bytes;
    this.at = start;
  }

  value(schema: Schema, namespace: string, inside: DeclaredLength | null): void {
    if (this.parts.length > maxParts) {
      throw new NoValue();
    }
    if (typeof schema === "string") {
      this.#primitiveOrNamed(schema, namespace, inside);
    } else if ("length" in schema) {
      const branch = Number(this.#varint("branch", inside));
      const chosen = (schema as readonly Schema[])[branch];
      this.#demand(chosen !== undefined);
      this.value(chosen as Schema, namespace, inside);
    } else {
      this.#complex(schema as { readonly type: Schema; readonly [name: string]: unknown }, namespace, inside);
    }
  }

  #primitiveOrNamed(name: string, namespace: string, inside: DeclaredLength | null): void {
    const start = this.at;
    switch (name) {
      case "null":
        return;
      case "boolean":
        return this.#fixed(1, "boolean", inside);
      case "int":
      case "long":
        this.#varint(name, inside);
        return;
      case "float":
        return this.#fixed(4, "float", inside);
      case "double":
        return this.#fixed(8, "double", inside);
      case "bytes":
      case "string":
        return this.#sized(name, start, inside);
      default: {
        const named = this.#named.get(name) ?? this.#named.get(`${namespace}.${name}`);
        this.#demand(named !== undefined);
        this.value(named?.schema as Schema, named?.namespace ?? "", inside);
      }
    }
  }

  #complex(schema: { readonly type: Schema; readonly [name: string]: unknown }, namespace: string, inside: DeclaredLength | null): void {
    const own = this.#name(schema, namespace);
    switch (schema.type) {
      case "record":
        for (const { type } of schema["fields"] as readonly { readonly type: Schema }[]) {
          this.value(type, own, inside);
        }
        return;
      case "enum":
        this.#varint("branch", inside);
        return;
      case "fixed":
        return this.#fixed(schema["size"] as number, "fixed", inside);
      case "array":
        return this.#blocks(inside, () => this.value(schema["items"] as Schema, namespace, inside));
      case "map":
        return this.#blocks(inside, () => {
          this.#sized("string", this.at, inside);
          this.value(schema["values"] as Schema, namespace, inside);
        });
      default:
        this.value(schema.type, namespace, inside);
    }
  }

  #name(schema: { readonly type: Schema; readonly [name: string]: unknown }, around: string): string {
    const name = schema["name"] as string | undefined;
    const namespace = name?.includes(".") ? name.slice(0, name.lastIndexOf(".")) : ((schema["namespace"] as string | undefined) ?? around);
    if (name !== undefined && typeof schema.type === "string") {
      this.#named.set(name.includes(".") ? name : `${namespace}.${name}`, { schema, namespace });
    }
    return namespace;
  }

  #blocks(inside: DeclaredLength | null, item: () => void): void {
    for (;;) {
      const start = this.at;
      const count = Number(this.#varint("count", inside));
      if (count === 0) {
        return;
      }
      if (count < 0) {
        this.#varint("length", inside);
      }
      const sign = count < 0 ? -1 : 1;
      const counted: DeclaredLength = {
        start,
        end: this.at,
        value: Math.abs(count),
        write: (value) => zigZag(BigInt(sign * value)),
        inside,
      };
      for (let i = 0; i < Math.abs(count); i++) {
        const from = this.at;
        item();
        this.#add(from, "item", inside, counted);
      }
    }
  }

  #sized(kind: string, start: number, inside: DeclaredLength | null): void {
    const value = Number(this.#varint("length", inside));
    this.#demand(value >= 0 && this.at + value <= this.#bytes.length);
    const length: DeclaredLength = { start, end: this.at, value, write: (size) => zigZag(BigInt(size)), inside };
    const from = this.at;
    this.at += value;
    this.#add(from, kind, length, null);
  }

  #fixed(size: number, kind: string, inside: DeclaredLength | null): void {
    this.#demand(this.at + size <= this.#bytes.length);
    const from = this.at;
    this.at += size;
    this.#add(from, kind, inside, null);
  }

  #varint(kind: string, inside: DeclaredLength | null): bigint {
    const found = varintAt(this.#bytes, this.at, this.#bytes.length);
    this.#demand(found !== null);
    const from = this.at;
    this.at = found?.end ?? from;
    this.#add(from, kind, inside, null);
    const raw = found?.value ?? 0n;
    return (raw >> 1n) ^ -(raw & 1n);
  }

  #add(start: number, kind: string, inside: DeclaredLength | null, countedBy: DeclaredLength | null): void {
    this.parts.push({ start, end: this.at, kind, inside, countedBy });
  }

  #demand(holds: boolean): void {
    if (!holds) {
      throw new NoValue();
    }
  }
}

function avroEdge({ kind, start, end }: Part, random: Random, bytes: Buffer): Buffer {
  switch (kind) {
    case "string":
      return anyText(random, bytes.subarray(start, end));
    case "bytes":
      return Buffer.from(Array.from({ length: random.below(20) }, () => random.below(256)));
    case "int":
      return random.chance(0.1) ? random.pick(oddVarints) : zigZag(BigInt.asIntN(random.chance(0.9) ? 32 : 34, random.pick(edgeNumbers)));
    case "long":
    case "length":
    case "count":
      return random.chance(0.1) ? random.pick(oddVarints) : zigZag(BigInt.asIntN(64, random.pick(edgeNumbers)));
    case "branch":
      return zigZag(BigInt(random.below(4) - 1));
    case "boolean":
      return Buffer.from([random.below(3)]);
    case "float":
    case "double":
    case "fixed":
      return Buffer.from(Array.from({ length: end - start }, () => random.pick([0, 1, 0x7f, 0x80, 0xf0, 0xff, 0x40])));
    default:
      return bytes.subarray(start, end);
  }
}

function similarAvro({ kind, start, end }: Part, random: Random, bytes: Buffer): Buffer {
  const found = bytes.subarray(start, end);
  return kind === "string" ? otherLetter(found, random) : kind === "long" || kind === "int" ? otherVarint(found, random) : found;
}
