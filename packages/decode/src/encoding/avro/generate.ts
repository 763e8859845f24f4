/**
 * Generates a reader's source: one function for each record, array and map, and everything else inline with the position in a local
 * variable. Values from schemas are scope constants or pass through `quote`; the rest is our own templates.
 */
import { type PlaceholderBytes, UNAVAILABLE } from "../../values/unavailable.ts";
import { BlockMemo } from "../block-memo.ts";
import { oneOf, placeholderTest, quote, Shapes } from "../codegen.ts";
import type { Explain } from "../twin-error.ts";
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
import { readText, TextMemo } from "../utf8-text.ts";

/** Reads a payload in place. The payload must end exactly at `end`. */
export type ReadPayload = (bytes: Uint8Array, start: number, end: number) => unknown;

export interface PayloadReads {
  readonly read: ReadPayload;
  /** Reads `count` values, one after another. They must fill the bytes together. */
  readonly readSequence: (bytes: Uint8Array, start: number, end: number, count: number) => readonly unknown[];
}

/** What explains the errors of the parts that are read by themselves. */
export interface Explains {
  /** Of a whole payload. */
  readonly payload: Explain;
  /** Of a part that is deferred. */
  readonly part: (instruction: ReadInstruction) => Explain;
}

/** Makes a reader of these instructions, as generated code. */
export function generateReader(root: ReadInstruction, at: Cursor, explains: Explains): PayloadReads {
  return new Emitter(root, at, explains).reader(root);
}

/** The keys of a map, unless its type declares others. */
const stringKeys: ReadInstruction = { kind: "string", convert: null, placeholder: null };

/** The runtime does not optimise functions with more fields than this well, so they are generated in parts. */
const fieldsPerFunction = 48;

class Emitter {
  readonly #scope: Record<string, unknown>;
  readonly #constants = new Map<unknown, string>();
  readonly #functions: string[] = [];
  readonly #shapes = new Shapes();
  readonly #names = new Map<string, Map<unknown, string>>();
  readonly #sizeBounds: SizeBounds;
  readonly #costs: Costs;
  readonly #countsDepth: boolean;
  readonly #explains: Explains;
  /** Whether any generated code so far uses the message's budgets. */
  #hasBudget = false;
  #serial = 0;

  constructor(root: ReadInstruction, at: Cursor, explains: Explains) {
    this.#explains = explains;
    this.#scope = { ...primitives, at, UNAVAILABLE, readText, Deferred };
    this.#sizeBounds = measureSizes(root);
    this.#costs = planCosts(root);
    this.#countsDepth = canExceedDepth(root, at);
  }

  reader(root: ReadInstruction): PayloadReads {
    const read = this.#whole(root, "1", this.#explains.payload);
    const readSequence = this.#sequence(root);
    const source = `${this.#functions.join("\n")}\nreturn {read:${read},readSequence:${readSequence}};`;
    return this.#shapes.generate(source, this.#scope) as PayloadReads; // the source returns these two functions
  }

  /** A function of (b, p, e) that reads one value. The value must fill the bytes. */
  #whole(instruction: ReadInstruction, depth: string, explain: Explain): string {
    const value = `${this.#value(instruction, "v", depth)}\nif(p!==e)throw trailing();\nreturn v;`;
    const body = this.#hasBudget ? budgeted(value) : value;
    // Caught here, not around the function: V8 inlines a call only if it has always led to the same function, and a wrapper would be shared.
    const caught = `catch(error){throw ${this.#constant(explain)}(error,b,start,e);}`;
    return `function(b,p,e){const start=p;let c=0,n=0,v;try{${body}}${caught}}`;
  }

  /** A function of (b, p, e, count) that reads values one after another. */
  #sequence(root: ReadInstruction): string {
    const item = this.#value(root, "v", "1");
    const body = `openSequence(at,e-p,count,${this.#sizeBounds.minBytes(root)});
const o=listOf(count);
for(let i=0;i<count;i++){${item}o[i]=v;}
if(p!==e)throw trailing();
return o;`;
    return `function(b,p,e,count){let c=0,n=0,v;${budgeted(body)}}`;
  }

  /**
   * Statements that move `p` to the end of a value. They read it into `target`, or skip it if `target` is null. Skipping checks the same
   * things as reading, except the content of texts. Reading and skipping are one traversal, so that they always agree on whether a message
   * is within its bounds.
   */
  #value(instruction: ReadInstruction, target: string | null, depth: string): string {
    const assign = (value: () => string): string => (target === null ? "" : `${target}=${value()};`);
    switch (instruction.kind) {
      case "null":
        return assign(() => "null");
      case "boolean":
        return `if(p>=e)throw truncated();c=b[p++];if(c>1)throw malformed("a boolean that is neither 0 nor 1");${assign(() => "c===1")}`;
      case "int":
        return target === null ? "p=skipInt(b,p,e);" : varint("c", "readInt") + assign(() => this.#converted(instruction.convert, "c"));
      case "long":
        return target === null ? "p=skipLong(b,p,e);" : varint(target, "readLong") + this.#longConversion(instruction, target);
      case "float":
        return fixedSize(
          4,
          assign(() => this.#converted(instruction.convert, "readFloat(at,b,p)")),
        );
      case "double":
        return fixedSize(
          8,
          assign(() => this.#converted(instruction.convert, "readDouble(at,b,p)")),
        );
      case "fixed": {
        const { size } = instruction;
        return fixedSize(size, this.#addLongCost(instruction, `${size}`) + assign(() => this.#bytes(instruction, `p+${size}`)));
      }
      case "string": {
        const text = (): string => this.#converted(instruction.convert, "readText(b,p,n)");
        return `${length()}${assign(() => this.#orPlaceholder(instruction.placeholder, text()))}p=n;`;
      }
      case "bytes": {
        const bytes = (): string => this.#orPlaceholder(instruction.placeholder, this.#bytes(instruction, "n"));
        return `${length()}${this.#addLongCost(instruction, "n-p")}${assign(bytes)}p=n;`;
      }
      case "enum": {
        const symbol = (): string => this.#converted(instruction.convert, `${this.#constant(instruction.symbols)}[c]`);
        return index(instruction.symbols.length) + assign(symbol);
      }
      case "union":
        return this.#branches(instruction, (branch) => this.#value(branch, target, depth));
      case "mismatch":
        return `throw ${this.#constant(instruction.error)}();`;
      default: {
        const call = `${this.#traversal(instruction, target !== null)}(b,p,e${this.#depthArgument(depth)})`;
        return target === null ? `p=${call};` : `${target}=${call};p=at.p;`;
      }
    }
  }

  #orPlaceholder(placeholder: PlaceholderBytes | null, value: string): string {
    return placeholder === null ? value : `${placeholderTest(placeholder, this.#constant(placeholder.test))}?UNAVAILABLE:${value}`;
  }

  #bytes(instruction: BytesInstruction, end: string): string {
    if (instruction.convert === null) {
      return `copyBytes(b,p,${end})`;
    }
    return `${this.#constant(instruction.convert)}(b,p,${end})`;
  }

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

  /** A function that reads a record or a collection and leaves `p` in `at.p`, or skips it and returns `p`. */
  #traversal(instruction: RecordInstruction | CollectionInstruction, isRead: boolean): string {
    return this.#named(isRead ? "read" : "skip", instruction, (name) => {
      if (instruction.kind === "record") {
        return this.#record(name, instruction, isRead);
      }
      const body = instruction.kind === "array" ? this.#array(instruction, isRead) : this.#map(instruction, isRead);
      return `${this.#open(name)}${body}}`;
    });
  }

  #record(name: string, record: RecordInstruction, isRead: boolean): string {
    const wanted = isRead ? record.fields.filter((field) => field.use !== "skip") : [];
    if ((isRead ? wanted : record.fields).length > fieldsPerFunction) {
      return this.#wideRecord(name, record, isRead);
    }
    const values = new Map(wanted.map((field, i) => [field, `v${i}`]));
    const fields = record.fields.map((field) => this.#field(field, values.get(field) ?? null));
    const locals = wanted.length === 0 ? "" : `let ${[...values.values()].join(",")};`;
    const made = (): string => this.#object(record, (field) => values.get(field) ?? "");
    return `${this.#open(name)}${locals}${this.#zeroByteCount(record)}\n${fields.join("\n")}\n${isRead ? this.#made(record, made()) : "return p;"}}`;
  }

  /**
   * Reads a record in parts, each a function with some of the fields. If the record is read, its object is made first, in its final shape.
   */
  #wideRecord(name: string, record: RecordInstruction, isRead: boolean): string {
    const [target, locals] = isRead ? ["o,", "c=0,n=0,v"] : ["", "c=0,n=0"];
    const calls = chunks(record.fields).map((part, i) => {
      const fields = part.map((field) =>
        isRead && field.use !== "skip" ? `${this.#field(field, "v")}o[${quote(field.name)}]=v;` : this.#field(field, null),
      );
      this.#functions.push(`function ${name}_${i}(${target}b,p,e,d){let ${locals};\n${fields.join("\n")}\nreturn p;}`);
      return `p=${name}_${i}(${target}b,p,e,d);`;
    });
    const made = isRead ? `const o=${this.#object(record, () => "null")};` : "";
    return `${this.#open(name)}${this.#zeroByteCount(record)}${made}${calls.join("")}${isRead ? this.#made(record, "o") : "return p;"}}`;
  }

  #made({ convert }: Pick<RecordInstruction, "convert"> | ArrayInstruction, value: string): string {
    return `const r=${this.#converted(convert, value)};at.p=p;return r;`;
  }

  /** Makes a record's object, with its properties in the order of its schema. */
  #object({ fields, resolution }: RecordInstruction, valueOf: (field: FieldInstruction) => string): string {
    const values = new Map(fields.filter((field) => field.use !== "skip").map((field) => [field.name, valueOf(field)]));
    for (const [name, { make }] of resolution?.defaults ?? []) {
      values.set(name, `${this.#constant(make)}()`);
    }
    const names = resolution?.order.filter((name) => values.has(name)) ?? [...values.keys()];
    return this.#shapes.make(names.map((name) => [name, values.get(name) ?? ""]));
  }

  #field({ instruction, use }: FieldInstruction, target: string | null): string {
    return target === null || use === "read" || use === "skip"
      ? this.#value(instruction, target, "d+1")
      : this.#defer(instruction, use, target);
  }

  #defer(instruction: ReadInstruction, defer: DeferInstruction, target: string): string {
    const { record } = defer;
    if (record === null || (instruction.kind !== "union" && instruction !== record)) {
      return `${target}=${this.#deferred(instruction, defer)}(b,p,e,d+1);p=at.p;`;
    }
    const call = `${target}=${this.#deferred(record, defer)}(b,p,e,d+1);p=at.p;`;
    return instruction.kind === "union"
      ? this.#branches(instruction, (branch) => (branch === record ? call : `${target}=null;`)) // the other branch is null
      : call;
  }

  /**
   * A function that peeks into a value, skips it, and returns it as a `Deferred`. While the peeked texts stay the same, the result of
   * `resolve` is reused from the record before.
   */
  #deferred(instruction: ReadInstruction, defer: DeferInstruction): string {
    return this.#named("defer", instruction, (name) => {
      const part = `${name}_part`;
      this.#functions.push(`const ${part}=${this.#whole(instruction, "2", this.#explains.part(instruction))};`);
      const seen = defer.peek.map((_, i) => `y${i}`);
      const known = seen.map((value) => `${name}_${value}`);
      this.#functions.push(`let ${[...known, `${name}_is`, `${name}_known=false`].join(",")};`);
      const locals = seen.length === 0 ? "" : `let ${seen.join(",")};`;
      const changed = [`!${name}_known`, ...seen.map((value, i) => `${value}!==${known[i]}`)].join("||");
      const keep = seen.map((value, i) => `${known[i]}=${value};`).join("");
      const resolved = `if(${changed}){is=${this.#constant(defer.resolve)}([${seen.join(",")}]);${name}_is=is;${keep}${name}_known=true;}`;
      const skips = this.#peeks(instruction, defer);
      const zeroByteCount = instruction.kind === "record" ? this.#zeroByteCount(instruction) : "";
      return `${this.#open(name)}const start=p;let is=${name}_is;${locals}${zeroByteCount}
${skips}
${resolved}
const late=new Deferred(is,${part},b,start,p);${defer.isJudged ? "" : "late.judge();"}
at.p=p;
return late;}`;
    });
  }

  /**
   * Statements that move `p` to the end of a value and read the texts that are peeked at. Fields that stand as they did in an earlier message are
   * moved over: `i` is the number of the next field that must be read, and `f` is where it begins.
   */
  #peeks(instruction: ReadInstruction, { record, peek }: DeferInstruction): string {
    if (record === null || instruction.kind !== "record") {
      return this.#value(instruction, null, "d");
    }
    const { fields } = record;
    const isKept = fields.map((field) => this.#isJudgedByBytes(field.instruction));
    const memo = this.#constant(new BlockMemo(isKept, "binary"));
    const texts = peek.map((field, i) => (field < 0 ? "" : `y${i}=${memo}.texts[${i}];`)).join("");
    const reads = fields.map((field, i) => {
      const peeked = peek.indexOf(i);
      const keepText = peeked < 0 ? "" : `${memo}.keepText(${peeked},y${peeked});`;
      return `if(i===${i}){f=p;${this.#peek(field, peeked)}${keepText}${memo}.keep(b,f,p,${i});i=${memo}.next(b,p,e,${i + 1});p=${memo}.pos;}`;
    });
    return `let f=p,i=${memo}.begin(b,p,e);p=${memo}.pos;${texts}
${reads.join("\n")}`;
  }

  /** Whether equal bytes are judged equally in every message: a scalar that adds nothing to the message's cost. */
  #isJudgedByBytes(instruction: ReadInstruction): boolean {
    switch (instruction.kind) {
      case "null":
      case "boolean":
      case "int":
      case "long":
      case "float":
      case "double":
      case "string":
      case "enum":
        return true;
      case "union":
        return this.#costs.branches(instruction) === null && instruction.branches.every((branch) => this.#isJudgedByBytes(branch));
      default:
        return false;
    }
  }

  #peek({ instruction }: FieldInstruction, peeked: number): string {
    if (peeked < 0) {
      return this.#value(instruction, null, "d+1");
    }
    const read = `${length()}y${peeked}=${this.#constant(new TextMemo())}.read(b,p,n);p=n;`;
    return instruction.kind === "union"
      ? this.#branches(instruction, (branch) => (branch.kind === "null" ? `y${peeked}=null;` : read))
      : read;
  }

  #array(instruction: ArrayInstruction, isRead: boolean): string {
    if (!isRead) {
      return `${this.#blocks(instruction, this.#value(instruction.items, null, "d+1"))}return p;`;
    }
    const item = `${this.#value(instruction.items, "v", "d+1")}o[i]=v;`;
    const blocks = this.#blocks(instruction, item, "if(o===null)o=listOf(count);");
    return `${this.#placeholder(instruction.placeholder)}let v,o=null;${blocks}${this.#made(instruction, "o")}`;
  }

  #map(instruction: MapInstruction, isRead: boolean): string {
    const keys = instruction.keys ?? stringKeys;
    const pair = this.#value(keys, isRead ? "k" : null, "d+1") + this.#value(instruction.values, isRead ? "v" : null, "d+1");
    const costCall = "addEntriesCost(at,i,count);";
    if (!isRead) {
      return `${this.#blocks(instruction, pair, costCall)}return p;`;
    }
    const [made, set] = instruction.keys === null ? ["Object.create(null)", "o[k]=v;"] : ["new Map()", "o.set(k,v);"];
    const blocks = this.#blocks(instruction, pair + set, costCall);
    return `${this.#placeholder(instruction.placeholder)}let k,v;const o=${made};${blocks}at.p=p;return o;`;
  }

  #placeholder(placeholder: PlaceholderInstruction | null): string {
    if (placeholder === null) {
      return "";
    }
    const raw = `${this.#traversal(placeholder.raw, true)}(b,p,e${this.#depthArgument("d")})`;
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

  /**
   * The name of a function that is generated once for `owner`. The name is taken before the body is generated, because the body may call
   * it.
   */
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

/**
 * Statements that run with the budgets of one message. The budgets of the message around it are saved and restored, because a conversion
 * may read another message on the way.
 */
function budgeted(body: string): string {
  return `const zeros=at.zeroByteItems,cost=at.cost,max=at.maxCost;at.zeroByteItems=at.cost=0;at.maxCost=costBudget(at,e-p);
try{${body}}finally{at.zeroByteItems=zeros;at.cost=cost;at.maxCost=max;}`;
}

/** Reads a varint into `target`: one byte inline, longer ones by a call. */
function varint(target: string, read: "readInt" | "readLong"): string {
  return `if(p<e&&(c=b[p])<128){p++;${target}=(c>>>1)^-(c&1);}else{${target}=${read}(at,b,p,e);p=at.p;}`;
}

/** Reads a length: `n` is then the end of the content, and `p` its start. */
function length(): string {
  return `if(p<e&&(c=b[p])<128&&(c&1)===0){p++;n=p+(c>>>1);if(n>e)throw truncated();}else{n=readLength(at,b,p,e);p=at.p;n+=p;}`;
}

/** Reads the index of a branch or a symbol into `c`. A byte below `2 * count` without the lowest bit is such an index in zig-zag. */
function index(count: number): string {
  return `if(p<e&&(c=b[p])<${Math.min(128, count * 2)}&&(c&1)===0){p++;c>>>=1;}else{c=readIndex(at,b,p,e,${count});p=at.p;}`;
}

/** Bytes whose size the schema declares, with statements that use them. */
function fixedSize(size: number, use: string): string {
  return `if(e-p<${size})throw truncated();${use}p+=${size};`;
}

function chunks(fields: readonly FieldInstruction[]): readonly (readonly FieldInstruction[])[] {
  const count = Math.ceil(fields.length / fieldsPerFunction);
  return Array.from({ length: count }, (_, i) => fields.slice(i * fieldsPerFunction, (i + 1) * fieldsPerFunction));
}
