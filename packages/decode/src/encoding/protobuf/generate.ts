/**
 * Generates a reader's source, with one function for each message. The function expects the fields in the order of their numbers, as
 * serializers write them. If fields are left over, a second function reads the same fields again in a loop, as long as each round gets
 * further. What it cannot read (unknown fields, messages in several parts) is left to the closures. Values from schemas are scope constants
 * or pass through `quote`; the rest is our own templates.
 */
import { type PlaceholderBytes, UNAVAILABLE } from "../../values/unavailable.ts";
import { placeholderTest, quote, Shapes } from "../codegen.ts";
import type { Explain } from "../twin-error.ts";
import { readText } from "../utf8-text.ts";
import { addPair, hasTextKeys, initialOf, itemCost } from "./collections.ts";
import { ClosureCompiler } from "./closures.ts";
import * as primitives from "./cursor.ts";
import type { Cursor } from "./cursor.ts";
import { packedReader } from "./packed.ts";
import type { FieldInstruction, IntegerName, MessageInstruction, ReadInstruction } from "./read-instructions.ts";
import { addCost, addConversionCost } from "./cost.ts";
import { type ReadMessage, type ReadPayload, whole } from "./whole.ts";
import { canBePacked, tagOf, wireOf } from "./wires.ts";

/** Makes a reader of these instructions, as generated code. */
export function generateReader(root: MessageInstruction, at: Cursor, explain: Explain): ReadPayload {
  return whole(new Emitter(at).reader(root), at, 1, explain);
}

/** The runtime does not optimise functions with more fields than this well, so they are generated in parts. */
const fieldsPerFunction = 48;

/** A oneof with more fields than this is read by the closures. */
const maxInOneof = 32;

const readers: Readonly<Record<IntegerName, string>> = {
  int32: "readInt32",
  sint32: "readSint32",
  uint32: "readUint32",
  int64: "readInt64",
  sint64: "readSint64",
  uint64: "readUint64",
  fixed32: "readFixed32",
  sfixed32: "readSfixed32",
  fixed64: "readFixed64",
  sfixed64: "readSfixed64",
};

class Emitter {
  readonly #compiler: ClosureCompiler;
  readonly #scope: Record<string, unknown>;
  readonly #constants = new Map<unknown, string>();
  readonly #functions: string[] = [];
  readonly #shapes = new Shapes();
  readonly #names = new Map<MessageInstruction, string>();
  readonly #waiting: MessageInstruction[] = [];

  constructor(at: Cursor) {
    this.#compiler = new ClosureCompiler(at);
    this.#scope = { ...primitives, at, UNAVAILABLE, readText, addPair, addCost, addConversionCost };
  }

  reader(root: MessageInstruction): ReadMessage {
    const name = this.#message(root);
    for (let instruction = this.#waiting.pop(); instruction !== undefined; instruction = this.#waiting.pop()) {
      this.#functions.push(this.#readMessage(this.#message(instruction), instruction)); // not by recursion: a long chain of messages would overflow the stack
    }
    return this.#shapes.generate(`${this.#functions.join("\n")}\nreturn ${name};`, this.#scope) as ReadMessage; // the source returns one
  }

  /** The name of the function of a message. The function itself is generated later. */
  #message(instruction: MessageInstruction): string {
    if (instruction.special !== null) {
      return this.#constant(this.#compiler.message(instruction));
    }
    const known = this.#names.get(instruction);
    if (known !== undefined) {
      return known;
    }
    const name = `read${this.#names.size}`;
    this.#names.set(instruction, name);
    this.#waiting.push(instruction);
    return name;
  }

  #readMessage(name: string, message: MessageInstruction): string {
    const fields = message.fields.filter(({ use }) => use !== "skip");
    const ordered = [...message.fields].sort((a, b) => a.number - b.number);
    const open = `function ${name}(b,p,e,d){if(d>at.maxDepth)throw tooDeep(at);addCost(at,${message.cost});const start=p;`;
    if (message.fields.length > fieldsPerFunction) {
      return `${this.#wideParts(name, message, ordered)}${open}const o=${this.#object(fields, (field) => this.#initial(field))};
${this.#chunkCalls(name, ordered)}addCost(at,0);${this.#close(message)}`;
    }
    const places = new Map(fields.map((field, i) => [field, `v${i}`]));
    const locals = fields.map((field) => `${places.get(field)}=${this.#initial(field)}`);
    const reads = ordered.map((field) => this.#readField(field, message, (target) => places.get(target) ?? ""));
    return `${this.#furtherFields(name, message, ordered)}${open}let c=0,n=0${locals.map((local) => `,${local}`).join("")};
${reads.join("\n")}
const o=${this.#object(fields, (field) => places.get(field) ?? "")};
if(p!==e)p=${name}_(o,b,p,e,d);${this.#close(message)}`;
  }

  /**
   * A function that reads the same fields again, into the object, as long as each round gets further. It is a function of its own, so that
   * the first round, which is enough for most messages, is no loop.
   */
  #furtherFields(name: string, message: MessageInstruction, ordered: readonly FieldInstruction[]): string {
    const reads = ordered.map((field) => this.#readField(field, message, ({ name: target }) => `o[${quote(target)}]`));
    return `function ${name}_(o,b,p,e,d){let c=0,n=0;
for(let q=p;p<e;q=p){${reads.join("\n")}
if(p===q)break;}
return p;}
`;
  }

  #close(message: MessageInstruction): string {
    const rest = `if(p!==e)${this.#constant(this.#compiler.rest(message))}(o,b,start,p,e,d);`;
    const required = message.fields.filter(({ isRequired, use }) => isRequired && use !== "skip");
    const checks = required.map(({ name }) => `o[${quote(name)}]===undefined`);
    const check = checks.length === 0 ? "" : `if(${checks.join("||")})throw missingField();`;
    const finish = message.finish === null ? "" : `${this.#constant(message.finish)}(o);`;
    return `${rest}${check}${finish}return ${message.convert === null ? "o" : `${this.#constant(message.convert)}(o)`};}`;
  }

  #object(fields: readonly FieldInstruction[], value: (field: FieldInstruction) => string): string {
    return this.#shapes.make(fields.map((field) => [field.name, value(field)]));
  }

  #chunkNames(name: string, fields: readonly FieldInstruction[]): readonly string[] {
    return Array.from({ length: Math.ceil(fields.length / fieldsPerFunction) }, (_, i) => `${name}_${i}`);
  }

  /**
   * Most messages with many fields have few of them set. A part is skipped if the number of the next field is higher than all of its own.
   */
  #chunkCalls(name: string, fields: readonly FieldInstruction[]): string {
    const calls = this.#chunkNames(name, fields).map((part, i) => {
      const last = fields[Math.min(fields.length, (i + 1) * fieldsPerFunction) - 1];
      return `if(p<e&&peekNumber(b,p,e)<=${last?.number ?? 0})p=${part}(o,b,p,e,d);`;
    });
    return calls.join("\n");
  }

  /**
   * The functions of a message with many fields: each reads some of the fields into the object, which has its final shape already. Fields
   * in another order are left to the closures at once.
   */
  #wideParts(name: string, message: MessageInstruction, ordered: readonly FieldInstruction[]): string {
    const parts = this.#chunkNames(name, ordered).map((part, i) => {
      const fields = ordered.slice(i * fieldsPerFunction, (i + 1) * fieldsPerFunction);
      const reads = fields.map((field) => this.#readField(field, message, ({ name: target }) => `o[${quote(target)}]`));
      return `function ${part}(o,b,p,e,d){let c=0,n=0;
${reads.join("\n")}
return p;}`;
    });
    return parts.join("\n");
  }

  #initial(field: FieldInstruction): string {
    if (field.cardinality === "repeated") {
      return "[]";
    }
    if (field.cardinality === "map") {
      return hasTextKeys(field.instruction) ? "Object.create(null)" : "new Map()";
    }
    if (field.makeAbsent !== null && !field.isRequired) {
      return `${this.#constant(field.makeAbsent)}()`;
    }
    const initial = initialOf(field);
    if (initial === null || initial === undefined || typeof initial === "boolean" || Object.is(initial, 0)) {
      return String(initial);
    }
    return typeof initial === "string" ? quote(initial) : this.#constant(initial);
  }

  /** Statements that read a field if it comes next. */
  #readField(field: FieldInstruction, message: MessageInstruction, placeOf: (field: FieldInstruction) => string): string {
    const wireType = wireOf(field.instruction);
    if (field.use === "skip") {
      const skip = `p=skipField(at,b,p,e,${wireType});`; // skipField needs the number only at the end of a group, and this is none
      return wireType === primitives.wire.groupStart ? "" : this.#when(tagOf(field, wireType), "while", skip);
    }
    const target = placeOf(field);
    if (field.cardinality === "repeated") {
      return this.#readRepeated(field, target);
    }
    if (field.cardinality === "map") {
      const empty = this.#compiler.emptyValue(field);
      const use = (content: string): string => `addPair(at,${target},${content},${empty === null ? "null" : this.#constant(empty)},d+2);`;
      return this.#when(tagOf(field, wireType), "while", this.#readContent(field, "p", use));
    }
    const others = field.oneof < 0 ? [] : message.fields.filter(({ oneof, use }) => oneof === field.oneof && use !== "skip");
    if (others.length > maxInOneof) {
      return ""; // each field must clear all others: too much code to generate
    }
    const clear = others.flatMap((other) => (other === field ? [] : [`${placeOf(other)}=null;`])).join("");
    const tag = tagOf(field, wireType);
    const start = message.setCost === 0 ? clear : `at.cost+=${message.setCost};${clear}`; // not checked here: the next addCost of the message checks it
    if (field.instruction.kind !== "message") {
      return this.#when(tag, "if", start + this.#read(field.instruction, target, "e"));
    }
    const content = this.#readContent(field, "p", (value) => `${target}=${value};`);
    return this.#when(tag, "if", start + content, `${target}==null`); // the closures merge a second part
  }

  #readRepeated(field: FieldInstruction, target: string): string {
    const { instruction } = field;
    if (instruction.kind === "message") {
      return this.#when(
        tagOf(field, wireOf(instruction)),
        "while",
        this.#readContent(field, "p", (content) => `${target}.push(${content});`),
      );
    }
    const cost = itemCost(instruction);
    const costCall = cost === 0 ? "" : `addCost(at,${cost});`;
    const push = (end: string): string => `${costCall}let x;${this.#read(instruction, "x", end)}${target}.push(x);`;
    const single = this.#when(tagOf(field, wireOf(instruction)), "while", push("e"));
    if (!canBePacked(field)) {
      return single;
    }
    const reader = packedReader(instruction);
    const values = reader === null ? `while(p<f){${push("f")}}` : `p=${this.#constant(reader)}(at,${target},b,p,f);`;
    const packed = `${length("e")}const f=n;${values}`;
    return `${this.#when(tagOf(field, primitives.wire.length), "while", packed)}${single}`;
  }

  /**
   * Runs the statements if (or while) this tag comes next, with `p` after the tag. The tag's bytes are compared with constants, so that the
   * tag is never decoded.
   */
  #when(tag: number, keyword: "if" | "while", statements: string, condition?: string): string {
    const bytes: number[] = [];
    for (let rest = tag; ; rest = rest >>> 7) {
      bytes.push(rest > 127 ? (rest & 127) | 128 : rest);
      if (rest <= 127) {
        break;
      }
    }
    const tests = bytes.map((byte, i) => (i === 0 ? `b[p]===${byte}` : `b[p+${i}]===${byte}`));
    const within = bytes.length === 1 ? "p<e" : `p+${bytes.length - 1}<e`;
    const all = [within, ...tests, ...(condition === undefined ? [] : [condition])];
    return `${keyword}(${all.join("&&")}){p+=${bytes.length};${statements}}`;
  }

  /** Statements that read the content of a message field and move `p` to its end. */
  #readContent(field: FieldInstruction, position: string, use: (content: string) => string): string {
    const { instruction } = field;
    if (instruction.kind !== "message") {
      return "";
    }
    const read =
      field.use === "read" || field.use === "skip"
        ? this.#message(instruction.message)
        : this.#constant(this.#compiler.deferred(field.use));
    if (instruction.isGroup) {
      return `n=groupEnd(at,b,p,e,${tagOf(field, primitives.wire.groupStart)});const g=at.p;${use(`${read}(b,${position},n,d+1)`)}p=g;`;
    }
    return `${length("e")}const m=n;${use(`${read}(b,${position},m,d+1)`)}p=m;`;
  }

  /** Statements that read a value into `target` and move `p` to its end. */
  #read(instruction: Exclude<ReadInstruction, { kind: "message" }>, target: string, end: string): string {
    switch (instruction.kind) {
      case "bool":
        return `if(p<${end}&&(c=b[p])<128){p++;${target}=c!==0;}else{${target}=readBool(at,b,p,${end});p=at.p;}`;
      case "float":
        return this.#fixed("readFloat", instruction.convert, target, end);
      case "double":
        return this.#fixed("readDouble", instruction.convert, target, end);
      case "enum": {
        const symbol = this.#converted(instruction.convert, "y");
        return `${varint("c", "readInt32", end)}{const y=${this.#constant(instruction.names)}.get(c);${target}=y===undefined?c:${symbol};}`;
      }
      case "string":
        return this.#sized(instruction.placeholder, target, this.#converted(instruction.convert, "readText(b,p,n)"), end);
      case "bytes": {
        const bytes =
          instruction.convert === null
            ? "takeBytes(at,b,p,n)"
            : `(addConversionCost(at,n-p),${this.#constant(instruction.convert)}(b,p,n))`;
        return this.#sized(instruction.placeholder, target, bytes, end);
      }
      default:
        return this.#integer(instruction, target, end);
    }
  }

  #integer(instruction: Extract<ReadInstruction, { kind: IntegerName }>, target: string, end: string): string {
    const { kind, number, bigint } = instruction;
    const isFixed = kind.includes("fixed");
    const isZigZag = kind.startsWith("s") && !isFixed;
    const short = isZigZag ? "(c>>>1)^-(c&1)" : "c";
    const read = isFixed ? `${target}=${readers[kind]}(at,b,p,${end});p=at.p;` : varint(target, readers[kind], end, short);
    if (number === null && bigint === null) {
      return read;
    }
    return `${read}${target}=typeof ${target}==="number"?${this.#converted(number, target)}:${this.#converted(bigint, target)};`;
  }

  #fixed(read: string, convert: unknown, target: string, end: string): string {
    return `${target}=${read}(at,b,p,${end});p=at.p;${convert === null ? "" : `${target}=${this.#converted(convert, target)};`}`;
  }

  #sized(placeholder: PlaceholderBytes | null, target: string, value: string, end: string): string {
    const test = placeholder === null ? "" : `${placeholderTest(placeholder, this.#constant(placeholder.test))}?UNAVAILABLE:`;
    return `${length(end)}${target}=${test}${value};p=n;`;
  }

  #converted(convert: unknown, value: string): string {
    return convert === null ? value : `${this.#constant(convert)}(${value})`;
  }

  /** The name of a value in the generated source. */
  #constant(value: unknown): string {
    const known = this.#constants.get(value);
    if (known !== undefined) {
      return known;
    }
    const name = `k${this.#constants.size}`;
    this.#constants.set(value, name);
    this.#scope[name] = value;
    return name;
  }
}

/** Reads a varint into `target`: one byte inline, longer ones by a call. */
function varint(target: string, read: string, end: string, short = "c"): string {
  return `if(p<${end}&&(c=b[p])<128){p++;${target}=${short};}else{${target}=${read}(at,b,p,${end});p=at.p;}`;
}

/** Reads a length: `n` is then the end of the content, and `p` its start. */
function length(end: string): string {
  return `if(p<${end}&&(c=b[p])<128){n=++p+c;if(n>${end})throw truncated();}else{n=readEnd(at,b,p,${end});p=at.p;}`;
}
