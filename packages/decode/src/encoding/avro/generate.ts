/**
 * Emits a reader's source: one function a record, an array and a map, everything else in line with the position in a local variable.
 * Values from schemas are scope constants or pass through `quote`; the rest is our own templates.
 */
import { type PlaceholderBytes, UNAVAILABLE } from "../../values/unavailable.ts";
import { generate, property, quote } from "../codegen.ts";
import { Deferred } from "../reader.ts";
import * as primitives from "./cursor.ts";
import type { Cursor } from "./cursor.ts";
import { canExceedDepth, type Extent, measureSteps, spendsItself } from "./extent.ts";
import { type BytesStep, type UnionStep, type Weights, weighSteps } from "./weight.ts";
import type { ArrayStep, CollectionStep, DeferStep, FieldStep, MapStep, PlaceholderStep, RecordStep, Step } from "./steps.ts";
import { readText, TextMemo } from "../text-cache.ts";

/** Reads a payload in place, and accepts only one that fills its bytes. */
export type ReadPayload = (bytes: Uint8Array, start: number, end: number) => unknown;

export interface PayloadReads {
  readonly read: ReadPayload;
  /** So many values, one after another, that fill the bytes together. */
  readonly readSequence: (bytes: Uint8Array, start: number, end: number, count: number) => readonly unknown[];
}

/** The reader of these steps, as generated code. */
export function generateReader(root: Step, at: Cursor): PayloadReads {
  return new Emitter(root, at).reader(root);
}

/** Functions of more fields than this are not optimised well: they are emitted in parts. */
const fieldsPerFunction = 48;

class Emitter {
  readonly #scope: Record<string, unknown>;
  readonly #constants = new Map<unknown, string>();
  readonly #functions: string[] = [];
  readonly #names = new Map<string, Map<unknown, string>>();
  readonly #extent: Extent;
  readonly #weights: Weights;
  readonly #countsDepth: boolean;
  /** Whether anything emitted so far takes from a message's budgets. */
  #hasBudget = false;
  #serial = 0;

  constructor(root: Step, at: Cursor) {
    this.#scope = { ...primitives, at, UNAVAILABLE, readText, Deferred };
    this.#extent = measureSteps(root);
    this.#weights = weighSteps(root);
    this.#countsDepth = canExceedDepth(root, at);
  }

  reader(root: Step): PayloadReads {
    const read = this.#whole(root, "1");
    const readSequence = this.#sequence(root);
    const source = `${this.#functions.join("\n")}\nreturn {read:${read},readSequence:${readSequence}};`;
    return generate(source, this.#scope) as PayloadReads; // the source returns them
  }

  /** A function of (b, p, e) that reads one value, which must fill its bytes. */
  #whole(step: Step, depth: string): string {
    const body = `${this.#read(step, "v", depth)}\nif(p!==e)throw trailing();\nreturn v;`;
    return `function(b,p,e){let c=0,n=0,v;${this.#hasBudget ? budgeted(body) : body}}`;
  }

  /** A function of (b, p, e, count) that reads values one after another. */
  #sequence(root: Step): string {
    const item = this.#read(root, "v", "1");
    const body = `openSequence(at,e-p,count,${this.#extent.minBytes(root)});
const o=listOf(count);
for(let i=0;i<count;i++){${item}o[i]=v;}
if(p!==e)throw trailing();
return o;`;
    return `function(b,p,e,count){let c=0,n=0,v;${budgeted(body)}}`;
  }

  /** Statements that read a value into `target` and move `p`. */
  #read(step: Step, target: string, depth: string): string {
    switch (step.kind) {
      case "null":
        return `${target}=null;`;
      case "boolean":
        return `if(p>=e)throw truncated();c=b[p++];if(c>1)throw malformed("a boolean other than 0 and 1");${target}=c===1;`;
      case "int":
        return `${varint("c", "readInt")}${target}=${this.#converted(step.convert, "c")};`;
      case "long":
        return `${varint(target, "readLong")}${this.#longConversion(step, target)}`;
      case "float":
        return `if(e-p<4)throw truncated();${target}=${this.#converted(step.convert, "readFloat(at,b,p)")};p+=4;`;
      case "double":
        return `if(e-p<8)throw truncated();${target}=${this.#converted(step.convert, "readDouble(at,b,p)")};p+=8;`;
      case "string":
        return this.#sized(step.placeholder, target, this.#converted(step.convert, "readText(at.texts,b,p,n)"));
      case "bytes":
        return this.#sized(step.placeholder, target, this.#bytes(step, "n"), this.#weighLong(step, "n-p"));
      case "fixed":
        return `if(e-p<${step.size})throw truncated();${this.#weighLong(step, String(step.size))}${target}=${this.#bytes(step, `p+${step.size}`)};p+=${step.size};`;
      case "enum":
        return `${index(step.symbols.length)}${target}=${this.#converted(step.convert, `${this.#constant(step.symbols)}[c]`)};`;
      case "union":
        return this.#branches(step, (branch) => this.#read(branch, target, depth));
      case "mismatch":
        return `throw ${this.#constant(step.error)}();`;
      default:
        return `${target}=${this.#reads(step)}(b,p,e${this.#depthArgument(depth)});p=at.p;`;
    }
  }

  /** Statements that move `p` behind a value, checking all that reading would but its content. */
  #skip(step: Step, depth: string): string {
    switch (step.kind) {
      case "null":
        return "";
      case "boolean":
        return `if(p>=e)throw truncated();if(b[p++]>1)throw malformed("a boolean other than 0 and 1");`;
      case "int":
        return "p=skipInt(b,p,e);";
      case "long":
        return "p=skipLong(b,p,e);";
      case "fixed":
        return this.#weighLong(step, String(step.size)) + skipBytes(step.size);
      case "float":
      case "double":
        return skipBytes(this.#extent.minBytes(step));
      case "string":
        return `${length()}p=n;`;
      case "bytes":
        return `${length()}${this.#weighLong(step, "n-p")}p=n;`;
      case "enum":
        return index(step.symbols.length);
      case "union":
        return this.#branches(step, (branch) => this.#skip(branch, depth));
      case "mismatch":
        return `throw ${this.#constant(step.error)}();`;
      default:
        return `p=${this.#skips(step)}(b,p,e${this.#depthArgument(depth)});`;
    }
  }

  #sized(placeholder: PlaceholderBytes | null, target: string, value: string, weighed = ""): string {
    const test =
      placeholder === null ? "" : `(${oneOf("n-p", placeholder.lengths)})&&${this.#constant(placeholder.test)}(b,p,n)?UNAVAILABLE:`;
    return `${length()}${weighed}${target}=${test}${value};p=n;`;
  }

  #bytes(step: BytesStep, end: string): string {
    if (step.convert === null) {
      return `copyBytes(b,p,${end})`;
    }
    return `${this.#constant(step.convert)}(b,p,${end})`;
  }

  /** Also of what is skipped: a message is within its bounds or not, whoever reads it. */
  #weighLong(step: BytesStep, size: string): string {
    return this.#weights.isLong(step) ? `weighLong(at,${size});` : "";
  }

  #converted(convert: unknown, value: string): string {
    return convert === null ? value : `${this.#constant(convert)}(${value})`;
  }

  #longConversion(step: Extract<Step, { kind: "long" }>, target: string): string {
    if (step.number === null && step.bigint === null) {
      return "";
    }
    const number = this.#converted(step.number, target);
    return `${target}=typeof ${target}==="number"?${number}:${this.#converted(step.bigint, target)};`;
  }

  #branches(union: UnionStep, read: (branch: Step) => string): string {
    const { branches } = union;
    const weights = this.#weights.branches(union) ?? [];
    this.#hasBudget ||= weights.some((weight) => weight > 0);
    const emit = (branch: Step): string => {
      const weight = weights[branches.indexOf(branch)] ?? 0;
      return weight === 0 ? read(branch) : `weigh(at,${weight});${read(branch)}`;
    };
    const [first, second] = branches;
    if (first !== undefined && second !== undefined && branches.length === 2) {
      return `${index(2)}if(c===0){${emit(first)}}else{${emit(second)}}`;
    }
    const cases = branches.map((branch, i) => `case ${i}:{${emit(branch)}break;}`);
    return `${index(branches.length)}switch(c){${cases.join("\n")}}`;
  }

  #reads(step: RecordStep | CollectionStep): string {
    return this.#named("read", step, (name) => {
      if (step.kind === "record") {
        return this.#readRecord(name, step);
      }
      const body = step.kind === "array" ? this.#readArray(step) : this.#readMap(step);
      return `${this.#open(name)}${body}}`;
    });
  }

  #skips(step: RecordStep | CollectionStep): string {
    return this.#named("skip", step, (name) => {
      if (step.kind === "record") {
        return this.#skipRecord(name, step);
      }
      const blocks =
        step.kind === "array"
          ? this.#blocks(step, this.#skip(step.items, "d+1"))
          : this.#blocks(step, this.#skipPair(step), "weighEntries(at,i,count);");
      return `${this.#open(name)}${blocks}return p;}`;
    });
  }

  #readRecord(name: string, record: RecordStep): string {
    const fields = record.fields.filter((field) => field.use !== "skip");
    if (fields.length > fieldsPerFunction) {
      return this.#readWideRecord(name, record);
    }
    const values = new Map(fields.map((field, i) => [field, `v${i}`]));
    const reads = record.fields.map((field) => this.#readField(field, values.get(field) ?? ""));
    const literal = this.#literal(record, (field) => values.get(field) ?? "");
    const locals = fields.length === 0 ? "" : `let ${[...values.values()].join(",")};`;
    const made = this.#converted(record.convert, `{${literal}}`);
    return `${this.#open(name)}${locals}${this.#charge(record)}\n${reads.join("\n")}\nconst o=${made};at.p=p;return o;}`;
  }

  /** The properties of a record's object, in the order in which its schema names them. */
  #literal({ fields, projected }: RecordStep, valueOf: (field: FieldStep) => string): string {
    const values = new Map(fields.filter((field) => field.use !== "skip").map((field) => [field.name, valueOf(field)]));
    for (const [name, { make }] of projected?.defaults ?? []) {
      values.set(name, `${this.#constant(make)}()`);
    }
    const names = projected?.order.filter((name) => values.has(name)) ?? [...values.keys()];
    return names.map((name) => `${property(name)}:${values.get(name)}`).join(",");
  }

  /** The object first, with its shape, then its fields, some a function. */
  #readWideRecord(name: string, record: RecordStep): string {
    const literal = this.#literal(record, () => "null");
    const calls = chunks(record.fields).map((part, i) => {
      const reads = part.map((field) => `${this.#readField(field, "v")}${field.use === "skip" ? "" : `o[${quote(field.name)}]=v;`}`);
      this.#functions.push(`function ${name}_${i}(o,b,p,e,d){let c=0,n=0,v;\n${reads.join("\n")}\nreturn p;}`);
      return `p=${name}_${i}(o,b,p,e,d);`;
    });
    const made = this.#converted(record.convert, "o");
    return `${this.#open(name)}${this.#charge(record)}const o={${literal}};${calls.join("")}const r=${made};at.p=p;return r;}`;
  }

  #readField({ step, use }: FieldStep, target: string): string {
    if (use === "read") {
      return this.#read(step, target, "d+1");
    }
    return use === "skip" ? this.#skip(step, "d+1") : this.#defer(step, use, target);
  }

  #skipRecord(name: string, record: RecordStep): string {
    const parts = chunks(record.fields).map((part) => part.map((field) => this.#skip(field.step, "d+1")).join("\n"));
    if (parts.length <= 1) {
      return `${this.#open(name)}${this.#charge(record)}${parts.join("")}return p;}`;
    }
    const calls = parts.map((part, i) => {
      this.#functions.push(`function ${name}_${i}(b,p,e,d){let c=0,n=0;\n${part}\nreturn p;}`);
      return `p=${name}_${i}(b,p,e,d);`;
    });
    return `${this.#open(name)}${this.#charge(record)}${calls.join("")}return p;}`;
  }

  #defer(step: Step, defer: DeferStep, target: string): string {
    const { record } = defer;
    if (record === null || (step.kind !== "union" && step !== record)) {
      return `${target}=${this.#deferred(step, defer)}(b,p,e,d+1);p=at.p;`;
    }
    const call = `${target}=${this.#deferred(record, defer)}(b,p,e,d+1);p=at.p;`;
    return step.kind === "union"
      ? this.#branches(step, (branch) => (branch === record ? call : `${target}=null;`)) // the other one is null
      : call;
  }

  /** A function that peeks into a value, skips it, and hands it out as a `Deferred`. */
  #deferred(step: Step, defer: DeferStep): string {
    return this.#named("defer", step, (name) => {
      const part = `${name}_part`;
      this.#functions.push(`const ${part}=${this.#whole(step, "2")};`);
      const seen = defer.peek.map((_, i) => `y${i}`);
      const known = seen.map((value) => `${name}_${value}`);
      this.#functions.push(`let ${[...known, `${name}_is`, `${name}_known=false`].join(",")};`);
      const fields = defer.record === null ? null : defer.record.fields;
      const skips =
        fields === null || step.kind !== "record"
          ? this.#skip(step, "d")
          : fields.map((field, i) => this.#peek(field, defer.peek.indexOf(i))).join("\n");
      const charge = step.kind === "record" ? this.#charge(step) : "";
      const locals = seen.length === 0 ? "" : `let ${seen.join(",")};`;
      const changed = [`!${name}_known`, ...seen.map((value, i) => `${value}!==${known[i]}`)].join("||");
      const keep = seen.map((value, i) => `${known[i]}=${value};`).join("");
      return `${this.#open(name)}const start=p;${locals}${charge}
${skips}
let is=${name}_is;
if(${changed}){is=${this.#constant(defer.resolve)}([${seen.join(",")}]);${name}_is=is;${keep}${name}_known=true;}
const late=new Deferred(is,${part},b,start,p);${defer.isJudged ? "" : "late.judge();"}
at.p=p;
return late;}`;
    });
  }

  #peek({ step }: FieldStep, peeked: number): string {
    if (peeked < 0) {
      return this.#skip(step, "d+1");
    }
    const read = `${length()}y${peeked}=${this.#constant(new TextMemo())}.read(at.texts,b,p,n);p=n;`;
    return step.kind === "union" ? this.#branches(step, (branch) => (branch.kind === "null" ? `y${peeked}=null;` : read)) : read;
  }

  #readArray(step: ArrayStep): string {
    const item = `${this.#read(step.items, "v", "d+1")}o[i]=v;`;
    const made = this.#converted(step.convert, "o");
    return `${this.#placeholder(step.placeholder)}let v,o=null;${this.#blocks(step, item, "if(o===null)o=listOf(count);")}const r=${made};at.p=p;return r;`;
  }

  #readMap(step: MapStep): string {
    const read = this.#read(step.values, "v", "d+1");
    const placeholder = this.#placeholder(step.placeholder);
    const weighed = "weighEntries(at,i,count);";
    if (step.keys !== null) {
      const pair = `${this.#read(step.keys, "k", "d+1")}${read}o.set(k,v);`;
      return `${placeholder}let k,v;const o=new Map();${this.#blocks(step, pair, weighed)}at.p=p;return o;`;
    }
    const pair = `${length()}k=readText(at.texts,b,p,n);p=n;${read}o[k]=v;`;
    return `${placeholder}let k,v;const o=Object.create(null);${this.#blocks(step, pair, weighed)}at.p=p;return o;`;
  }

  #skipPair(step: MapStep): string {
    return `${step.keys === null ? `${length()}p=n;` : this.#skip(step.keys, "d+1")}${this.#skip(step.values, "d+1")}`;
  }

  #placeholder(placeholder: PlaceholderStep | null): string {
    if (placeholder === null) {
      return "";
    }
    const raw = `${this.#reads(placeholder.raw)}(b,p,e${this.#depthArgument("d")})`;
    return `n=peekCount(b,p,e);if(${oneOf("n", placeholder.counts)}){const r=${raw};if(${this.#constant(placeholder.test)}(r))return UNAVAILABLE;}`;
  }

  #blocks(step: CollectionStep, item: string, open = ""): string {
    const minBytes = this.#extent.minItemBytes(step);
    this.#hasBudget = true;
    const spends = minBytes === 0 && !spendsItself(step) ? "spend(at,count);" : "";
    return `for(let i=0;;){
const count=openBlock(at,b,p,e,${minBytes},${this.#weights.item(step)}),blockEnd=at.blockEnd;p=at.p;${spends}${open}
if(count===0){closeBlock(blockEnd,p);break;}
for(const end=i+count;i<end;i++){
${item}
}
closeBlock(blockEnd,p);
}`;
  }

  #charge(record: RecordStep): string {
    const count = this.#extent.charge(record);
    this.#hasBudget ||= count > 0;
    return count === 0 ? "" : `spend(at,${count});`;
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
  return `const zeros=at.zeroByteItems,weight=at.weight,max=at.maxWeight;at.zeroByteItems=at.weight=0;at.maxWeight=allowance(at,e-p);
try{${body}}finally{at.zeroByteItems=zeros;at.weight=weight;at.maxWeight=max;}`;
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

function chunks(fields: readonly FieldStep[]): readonly (readonly FieldStep[])[] {
  const count = Math.ceil(fields.length / fieldsPerFunction);
  return Array.from({ length: count }, (_, i) => fields.slice(i * fieldsPerFunction, (i + 1) * fieldsPerFunction));
}
