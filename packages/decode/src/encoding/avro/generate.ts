/**
 * Emits a reader's source: one function a record, an array and a map, everything else in line with the position in a local variable.
 * Values from schemas are scope constants or pass through `quote`; the rest is our own templates.
 */
import { type PlaceholderBytes, UNAVAILABLE } from "../../values/unavailable.ts";
import { generate, property, quote } from "../codegen.ts";
import { Deferred } from "../reader.ts";
import * as primitives from "./cursor.ts";
import type { Cursor } from "./cursor.ts";
import { canExceedDepth, type SizeBounds, measureSizes, countsItself } from "./size-bounds.ts";
import { type BytesInstruction, type UnionInstruction, type Costs, planCosts } from "./cost.ts";
import type {
  ArrayInstruction,
  CollectionInstruction,
  DeferInstruction,
  FieldInstruction,
  MapInstruction,
  PlaceholderInstruction,
  RecordInstruction,
  ReadInstruction,
} from "./read-instructions.ts";
import { readText, TextMemo } from "../text-cache.ts";

/** Reads a payload in place, and accepts only one that fills its bytes. */
export type ReadPayload = (bytes: Uint8Array, start: number, end: number) => unknown;

export interface PayloadReads {
  readonly read: ReadPayload;
  /** So many values, one after another, that fill the bytes together. */
  readonly readSequence: (bytes: Uint8Array, start: number, end: number, count: number) => readonly unknown[];
}

/** The reader of these steps, as generated code. */
export function generateReader(root: ReadInstruction, at: Cursor): PayloadReads {
  return new Emitter(root, at).reader(root);
}

/** Functions of more fields than this are not optimised well: they are emitted in parts. */
const fieldsPerFunction = 48;

class Emitter {
  readonly #scope: Record<string, unknown>;
  readonly #constants = new Map<unknown, string>();
  readonly #functions: string[] = [];
  readonly #names = new Map<string, Map<unknown, string>>();
  readonly #sizeBounds: SizeBounds;
  readonly #costs: Costs;
  readonly #countsDepth: boolean;
  /** Whether anything emitted so far takes from a message's budgets. */
  #hasBudget = false;
  #serial = 0;

  constructor(root: ReadInstruction, at: Cursor) {
    this.#scope = { ...primitives, at, UNAVAILABLE, readText, Deferred };
    this.#sizeBounds = measureSizes(root);
    this.#costs = planCosts(root);
    this.#countsDepth = canExceedDepth(root, at);
  }

  reader(root: ReadInstruction): PayloadReads {
    const read = this.#whole(root, "1");
    const readSequence = this.#sequence(root);
    const source = `${this.#functions.join("\n")}\nreturn {read:${read},readSequence:${readSequence}};`;
    return generate(source, this.#scope) as PayloadReads; // the source returns them
  }

  /** A function of (b, p, e) that reads one value, which must fill its bytes. */
  #whole(instruction: ReadInstruction, depth: string): string {
    const body = `${this.#read(instruction, "v", depth)}\nif(p!==e)throw trailing();\nreturn v;`;
    return `function(b,p,e){let c=0,n=0,v;${this.#hasBudget ? budgeted(body) : body}}`;
  }

  /** A function of (b, p, e, count) that reads values one after another. */
  #sequence(root: ReadInstruction): string {
    const item = this.#read(root, "v", "1");
    const body = `openSequence(at,e-p,count,${this.#sizeBounds.minBytes(root)});
const o=listOf(count);
for(let i=0;i<count;i++){${item}o[i]=v;}
if(p!==e)throw trailing();
return o;`;
    return `function(b,p,e,count){let c=0,n=0,v;${budgeted(body)}}`;
  }

  /** Statements that read a value into `target` and move `p`. */
  #read(instruction: ReadInstruction, target: string, depth: string): string {
    switch (instruction.kind) {
      case "null":
        return `${target}=null;`;
      case "boolean":
        return `if(p>=e)throw truncated();c=b[p++];if(c>1)throw malformed("a boolean other than 0 and 1");${target}=c===1;`;
      case "int":
        return `${varint("c", "readInt")}${target}=${this.#converted(instruction.convert, "c")};`;
      case "long":
        return `${varint(target, "readLong")}${this.#longConversion(instruction, target)}`;
      case "float":
        return `if(e-p<4)throw truncated();${target}=${this.#converted(instruction.convert, "readFloat(at,b,p)")};p+=4;`;
      case "double":
        return `if(e-p<8)throw truncated();${target}=${this.#converted(instruction.convert, "readDouble(at,b,p)")};p+=8;`;
      case "string":
        return this.#sized(instruction.placeholder, target, this.#converted(instruction.convert, "readText(at.texts,b,p,n)"));
      case "bytes":
        return this.#sized(instruction.placeholder, target, this.#bytes(instruction, "n"), this.#addLongCost(instruction, "n-p"));
      case "fixed":
        return `if(e-p<${instruction.size})throw truncated();${this.#addLongCost(instruction, String(instruction.size))}${target}=${this.#bytes(instruction, `p+${instruction.size}`)};p+=${instruction.size};`;
      case "enum":
        return `${index(instruction.symbols.length)}${target}=${this.#converted(instruction.convert, `${this.#constant(instruction.symbols)}[c]`)};`;
      case "union":
        return this.#branches(instruction, (branch) => this.#read(branch, target, depth));
      case "mismatch":
        return `throw ${this.#constant(instruction.error)}();`;
      default:
        return `${target}=${this.#reads(instruction)}(b,p,e${this.#depthArgument(depth)});p=at.p;`;
    }
  }

  /** Statements that move `p` behind a value, checking all that reading would but its content. */
  #skip(instruction: ReadInstruction, depth: string): string {
    switch (instruction.kind) {
      case "null":
        return "";
      case "boolean":
        return `if(p>=e)throw truncated();if(b[p++]>1)throw malformed("a boolean other than 0 and 1");`;
      case "int":
        return "p=skipInt(b,p,e);";
      case "long":
        return "p=skipLong(b,p,e);";
      case "fixed":
        return this.#addLongCost(instruction, String(instruction.size)) + skipBytes(instruction.size);
      case "float":
      case "double":
        return skipBytes(this.#sizeBounds.minBytes(instruction));
      case "string":
        return `${length()}p=n;`;
      case "bytes":
        return `${length()}${this.#addLongCost(instruction, "n-p")}p=n;`;
      case "enum":
        return index(instruction.symbols.length);
      case "union":
        return this.#branches(instruction, (branch) => this.#skip(branch, depth));
      case "mismatch":
        return `throw ${this.#constant(instruction.error)}();`;
      default:
        return `p=${this.#skips(instruction)}(b,p,e${this.#depthArgument(depth)});`;
    }
  }

  #sized(placeholder: PlaceholderBytes | null, target: string, value: string, costCall = ""): string {
    const test =
      placeholder === null ? "" : `(${oneOf("n-p", placeholder.lengths)})&&${this.#constant(placeholder.test)}(b,p,n)?UNAVAILABLE:`;
    return `${length()}${costCall}${target}=${test}${value};p=n;`;
  }

  #bytes(instruction: BytesInstruction, end: string): string {
    if (instruction.convert === null) {
      return `copyBytes(b,p,${end})`;
    }
    return `${this.#constant(instruction.convert)}(b,p,${end})`;
  }

  /** Also of what is skipped: a message is within its bounds or not, whoever reads it. */
  #addLongCost(instruction: BytesInstruction, size: string): string {
    return this.#costs.isLong(instruction) ? `addLongCost(at,${size});` : "";
  }

  #converted(convert: unknown, value: string): string {
    return convert === null ? value : `${this.#constant(convert)}(${value})`;
  }

  #longConversion(instruction: Extract<ReadInstruction, { kind: "long" }>, target: string): string {
    if (instruction.number === null && instruction.bigint === null) {
      return "";
    }
    const number = this.#converted(instruction.number, target);
    return `${target}=typeof ${target}==="number"?${number}:${this.#converted(instruction.bigint, target)};`;
  }

  #branches(union: UnionInstruction, read: (branch: ReadInstruction) => string): string {
    const { branches } = union;
    const costs = this.#costs.branches(union) ?? [];
    this.#hasBudget ||= costs.some((cost) => cost > 0);
    const emit = (branch: ReadInstruction): string => {
      const cost = costs[branches.indexOf(branch)] ?? 0;
      return cost === 0 ? read(branch) : `addCost(at,${cost});${read(branch)}`;
    };
    const [first, second] = branches;
    if (first !== undefined && second !== undefined && branches.length === 2) {
      return `${index(2)}if(c===0){${emit(first)}}else{${emit(second)}}`;
    }
    const cases = branches.map((branch, i) => `case ${i}:{${emit(branch)}break;}`);
    return `${index(branches.length)}switch(c){${cases.join("\n")}}`;
  }

  #reads(instruction: RecordInstruction | CollectionInstruction): string {
    return this.#named("read", instruction, (name) => {
      if (instruction.kind === "record") {
        return this.#readRecord(name, instruction);
      }
      const body = instruction.kind === "array" ? this.#readArray(instruction) : this.#readMap(instruction);
      return `${this.#open(name)}${body}}`;
    });
  }

  #skips(instruction: RecordInstruction | CollectionInstruction): string {
    return this.#named("skip", instruction, (name) => {
      if (instruction.kind === "record") {
        return this.#skipRecord(name, instruction);
      }
      const blocks =
        instruction.kind === "array"
          ? this.#blocks(instruction, this.#skip(instruction.items, "d+1"))
          : this.#blocks(instruction, this.#skipPair(instruction), "addEntriesCost(at,i,count);");
      return `${this.#open(name)}${blocks}return p;}`;
    });
  }

  #readRecord(name: string, record: RecordInstruction): string {
    const fields = record.fields.filter((field) => field.use !== "skip");
    if (fields.length > fieldsPerFunction) {
      return this.#readWideRecord(name, record);
    }
    const values = new Map(fields.map((field, i) => [field, `v${i}`]));
    const reads = record.fields.map((field) => this.#readField(field, values.get(field) ?? ""));
    const literal = this.#literal(record, (field) => values.get(field) ?? "");
    const locals = fields.length === 0 ? "" : `let ${[...values.values()].join(",")};`;
    const made = this.#converted(record.convert, `{${literal}}`);
    return `${this.#open(name)}${locals}${this.#zeroByteCount(record)}\n${reads.join("\n")}\nconst o=${made};at.p=p;return o;}`;
  }

  /** The properties of a record's object, in the order in which its schema names them. */
  #literal({ fields, resolution }: RecordInstruction, valueOf: (field: FieldInstruction) => string): string {
    const values = new Map(fields.filter((field) => field.use !== "skip").map((field) => [field.name, valueOf(field)]));
    for (const [name, { make }] of resolution?.defaults ?? []) {
      values.set(name, `${this.#constant(make)}()`);
    }
    const names = resolution?.order.filter((name) => values.has(name)) ?? [...values.keys()];
    return names.map((name) => `${property(name)}:${values.get(name)}`).join(",");
  }

  /** The object first, with its shape, then its fields, some a function. */
  #readWideRecord(name: string, record: RecordInstruction): string {
    const literal = this.#literal(record, () => "null");
    const calls = chunks(record.fields).map((part, i) => {
      const reads = part.map((field) => `${this.#readField(field, "v")}${field.use === "skip" ? "" : `o[${quote(field.name)}]=v;`}`);
      this.#functions.push(`function ${name}_${i}(o,b,p,e,d){let c=0,n=0,v;\n${reads.join("\n")}\nreturn p;}`);
      return `p=${name}_${i}(o,b,p,e,d);`;
    });
    const made = this.#converted(record.convert, "o");
    return `${this.#open(name)}${this.#zeroByteCount(record)}const o={${literal}};${calls.join("")}const r=${made};at.p=p;return r;}`;
  }

  #readField({ instruction, use }: FieldInstruction, target: string): string {
    if (use === "read") {
      return this.#read(instruction, target, "d+1");
    }
    return use === "skip" ? this.#skip(instruction, "d+1") : this.#defer(instruction, use, target);
  }

  #skipRecord(name: string, record: RecordInstruction): string {
    const parts = chunks(record.fields).map((part) => part.map((field) => this.#skip(field.instruction, "d+1")).join("\n"));
    if (parts.length <= 1) {
      return `${this.#open(name)}${this.#zeroByteCount(record)}${parts.join("")}return p;}`;
    }
    const calls = parts.map((part, i) => {
      this.#functions.push(`function ${name}_${i}(b,p,e,d){let c=0,n=0;\n${part}\nreturn p;}`);
      return `p=${name}_${i}(b,p,e,d);`;
    });
    return `${this.#open(name)}${this.#zeroByteCount(record)}${calls.join("")}return p;}`;
  }

  #defer(instruction: ReadInstruction, defer: DeferInstruction, target: string): string {
    const { record } = defer;
    if (record === null || (instruction.kind !== "union" && instruction !== record)) {
      return `${target}=${this.#deferred(instruction, defer)}(b,p,e,d+1);p=at.p;`;
    }
    const call = `${target}=${this.#deferred(record, defer)}(b,p,e,d+1);p=at.p;`;
    return instruction.kind === "union"
      ? this.#branches(instruction, (branch) => (branch === record ? call : `${target}=null;`)) // the other one is null
      : call;
  }

  /** A function that peeks into a value, skips it, and hands it out as a `Deferred`. */
  #deferred(instruction: ReadInstruction, defer: DeferInstruction): string {
    return this.#named("defer", instruction, (name) => {
      const part = `${name}_part`;
      this.#functions.push(`const ${part}=${this.#whole(instruction, "2")};`);
      const seen = defer.peek.map((_, i) => `y${i}`);
      const known = seen.map((value) => `${name}_${value}`);
      this.#functions.push(`let ${[...known, `${name}_is`, `${name}_known=false`].join(",")};`);
      const fields = defer.record === null ? null : defer.record.fields;
      const skips =
        fields === null || instruction.kind !== "record"
          ? this.#skip(instruction, "d")
          : fields.map((field, i) => this.#peek(field, defer.peek.indexOf(i))).join("\n");
      const zeroByteCount = instruction.kind === "record" ? this.#zeroByteCount(instruction) : "";
      const locals = seen.length === 0 ? "" : `let ${seen.join(",")};`;
      const changed = [`!${name}_known`, ...seen.map((value, i) => `${value}!==${known[i]}`)].join("||");
      const keep = seen.map((value, i) => `${known[i]}=${value};`).join("");
      return `${this.#open(name)}const start=p;${locals}${zeroByteCount}
${skips}
let is=${name}_is;
if(${changed}){is=${this.#constant(defer.resolve)}([${seen.join(",")}]);${name}_is=is;${keep}${name}_known=true;}
const late=new Deferred(is,${part},b,start,p);${defer.isJudged ? "" : "late.judge();"}
at.p=p;
return late;}`;
    });
  }

  #peek({ instruction }: FieldInstruction, peeked: number): string {
    if (peeked < 0) {
      return this.#skip(instruction, "d+1");
    }
    const read = `${length()}y${peeked}=${this.#constant(new TextMemo())}.read(at.texts,b,p,n);p=n;`;
    return instruction.kind === "union"
      ? this.#branches(instruction, (branch) => (branch.kind === "null" ? `y${peeked}=null;` : read))
      : read;
  }

  #readArray(instruction: ArrayInstruction): string {
    const item = `${this.#read(instruction.items, "v", "d+1")}o[i]=v;`;
    const made = this.#converted(instruction.convert, "o");
    return `${this.#placeholder(instruction.placeholder)}let v,o=null;${this.#blocks(instruction, item, "if(o===null)o=listOf(count);")}const r=${made};at.p=p;return r;`;
  }

  #readMap(instruction: MapInstruction): string {
    const read = this.#read(instruction.values, "v", "d+1");
    const placeholder = this.#placeholder(instruction.placeholder);
    const costCall = "addEntriesCost(at,i,count);";
    if (instruction.keys !== null) {
      const pair = `${this.#read(instruction.keys, "k", "d+1")}${read}o.set(k,v);`;
      return `${placeholder}let k,v;const o=new Map();${this.#blocks(instruction, pair, costCall)}at.p=p;return o;`;
    }
    const pair = `${length()}k=readText(at.texts,b,p,n);p=n;${read}o[k]=v;`;
    return `${placeholder}let k,v;const o=Object.create(null);${this.#blocks(instruction, pair, costCall)}at.p=p;return o;`;
  }

  #skipPair(instruction: MapInstruction): string {
    return `${instruction.keys === null ? `${length()}p=n;` : this.#skip(instruction.keys, "d+1")}${this.#skip(instruction.values, "d+1")}`;
  }

  #placeholder(placeholder: PlaceholderInstruction | null): string {
    if (placeholder === null) {
      return "";
    }
    const raw = `${this.#reads(placeholder.raw)}(b,p,e${this.#depthArgument("d")})`;
    return `n=peekCount(b,p,e);if(${oneOf("n", placeholder.counts)}){const r=${raw};if(${this.#constant(placeholder.test)}(r))return UNAVAILABLE;}`;
  }

  #blocks(instruction: CollectionInstruction, item: string, open = ""): string {
    const minBytes = this.#sizeBounds.minItemBytes(instruction);
    this.#hasBudget = true;
    const countsZeroBytes = minBytes === 0 && !countsItself(instruction) ? "countZeroBytes(at,count);" : "";
    return `for(let i=0;;){
const count=openBlock(at,b,p,e,${minBytes},${this.#costs.item(instruction)}),blockEnd=at.blockEnd;p=at.p;${countsZeroBytes}${open}
if(count===0){closeBlock(blockEnd,p);break;}
for(const end=i+count;i<end;i++){
${item}
}
closeBlock(blockEnd,p);
}`;
  }

  #zeroByteCount(record: RecordInstruction): string {
    const count = this.#sizeBounds.zeroByteCount(record);
    this.#hasBudget ||= count > 0;
    return count === 0 ? "" : `countZeroBytes(at,${count});`;
  }

  #open(name: string): string {
    return `function ${name}(b,p,e,d){let c=0,n=0;${this.#countsDepth ? "if(d>at.maxDepth)throw tooDeep(at);" : ""}\n`;
  }

  #depthArgument(depth: string): string {
    return this.#countsDepth ? `,${depth}` : "";
  }

  /** The name of a function that is emitted once for `owner`; taken before its body is emitted, which may call it. */
  #named(purpose: string, owner: unknown, emit: (name: string) => string): string {
    const names = this.#names.get(purpose) ?? new Map<unknown, string>();
    this.#names.set(purpose, names);
    const known = names.get(owner);
    if (known !== undefined) {
      return known;
    }
    const name = `${purpose}${this.#serial++}`;
    names.set(owner, name);
    this.#functions.push(emit(name));
    return name;
  }

  /** The name by which the source calls a value. */
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

/** Statements with a message's budgets around them; a conversion may read another message on the way. */
function budgeted(body: string): string {
  return `const zeros=at.zeroByteItems,cost=at.cost,max=at.maxCost;at.zeroByteItems=at.cost=0;at.maxCost=costBudget(at,e-p);
try{${body}}finally{at.zeroByteItems=zeros;at.cost=cost;at.maxCost=max;}`;
}

/** A varint into `target`: one byte in line, more by the function. */
function varint(target: string, read: "readInt" | "readLong"): string {
  return `if(p<e&&(c=b[p])<128){p++;${target}=(c>>>1)^-(c&1);}else{${target}=${read}(at,b,p,e);p=at.p;}`;
}

/** The end of what a length announces into `n`, with `p` at its start. */
function length(): string {
  return `if(p<e&&(c=b[p])<128&&(c&1)===0){p++;n=p+(c>>>1);if(n>e)throw truncated();}else{n=readLength(at,b,p,e);p=at.p;n+=p;}`;
}

/** A branch or symbol into `c`. */
function index(count: number): string {
  return `if(p<e&&(c=b[p])<${Math.min(128, count * 2)}&&(c&1)===0){p++;c>>>=1;}else{c=readIndex(at,b,p,e,${count});p=at.p;}`;
}

function oneOf(value: string, numbers: readonly number[]): string {
  return numbers.map((number) => `${value}===${number}`).join("||");
}

function skipBytes(count: number): string {
  return `if(e-p<${count})throw truncated();p+=${count};`;
}

function chunks(fields: readonly FieldInstruction[]): readonly (readonly FieldInstruction[])[] {
  const count = Math.ceil(fields.length / fieldsPerFunction);
  return Array.from({ length: count }, (_, i) => fields.slice(i * fieldsPerFunction, (i + 1) * fieldsPerFunction));
}
