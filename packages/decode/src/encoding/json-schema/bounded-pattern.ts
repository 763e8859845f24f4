import { type CharacterTest, isWordCharacter, parsePattern, type PatternNode, unusable } from "./pattern-parser.ts";

/** Takes what work costs, in nanoseconds or so, from a message's budget; throws where there is none left. */
export type AddCost = (ns: number) => void;

const maxInstructions = 5_000;

type Assertion = "start" | "end" | "boundary" | "inside";

interface Fork {
  readonly kind: "split";
  readonly to: number[];
}

type Instruction = { readonly kind: "set"; readonly has: CharacterTest } | Fork | { readonly kind: Assertion | "match" };

/**
 * A regular expression that takes time in proportion to the text and to itself, whatever both are: all ways through it are followed at once
 * (Thompson 1968) instead of one after the other, as the runtime's own does, which some texts keep busy for years.
 */
export class BoundedPattern {
  readonly #pattern: string;
  readonly #program: readonly Instruction[];
  readonly #addCost: AddCost;
  /** What can be reached from each instruction, told when it is first asked for. */
  readonly #reached: (readonly number[] | undefined)[];
  readonly #sets: readonly [StateSet, StateSet];
  /** The runtime's own, where it cannot go astray. */
  readonly #linear: RegExp | null;

  constructor(pattern: string, addCost: AddCost) {
    this.#pattern = pattern;
    this.#addCost = addCost;
    const program: Instruction[] = [];
    const structure = parsePattern(pattern);
    this.#linear = isStraight(structure) ? linearPattern(pattern) : null;
    emit(structure, program);
    push(program, { kind: "match" });
    this.#program = program;
    this.#reached = new Array<readonly number[] | undefined>(program.length);
    this.#sets = [new StateSet(program.length), new StateSet(program.length)];
  }

  /** Whether the pattern is found anywhere in the text. */
  test(text: string): boolean {
    if (this.#linear !== null) {
      this.#addCost(nsOfCall + text.length);
      return this.#linear.test(text);
    }
    this.#addCost(nsOfCall);
    const isAnchored = this.#program[0]?.kind === "start";
    let [states, next] = this.#sets;
    states.clear();
    for (let at = 0, before = -1; ; ) {
      const code = at < text.length ? (text.codePointAt(at) as number) : -1; // inside the text
      // Those that began earlier are here by now; one more begins at each place.
      const begun = at > 0 && isAnchored ? 0 : this.#follow(0, before, code, states);
      if (states.isMatch) {
        return true;
      }
      if (code < 0 || (isAnchored && states.size === 0)) {
        return false;
      }
      const after = at + (code > 0xffff ? 2 : 1);
      const ahead = after < text.length ? (text.codePointAt(after) as number) : -1;
      next.clear();
      this.#addCost(nsOfInstruction * (1 + begun + this.#advance(states, code, ahead, next)));
      [states, next] = [next, states];
      at = after;
      before = code;
    }
  }

  /** Follows what takes the character. Returns how much was looked at. */
  #advance(states: StateSet, code: number, ahead: number, next: StateSet): number {
    let looked = states.size;
    for (let i = 0; i < states.size; i++) {
      const state = states.at(i);
      const instruction = this.#program[state] as Instruction;
      if (instruction.kind === "set" && instruction.has(code)) {
        looked += this.#follow(state + 1, code, ahead, next);
      }
    }
    return looked;
  }

  /** Adds all that can be reached from an instruction without taking a character. Returns how much was looked at. */
  #follow(first: number, before: number, ahead: number, states: StateSet): number {
    const reached = (this.#reached[first] ??= reachedFrom(this.#program, first));
    let looked = reached.length;
    for (let i = 0; i < reached.length; i++) {
      const state = reached[i] as number;
      if (states.add(state)) {
        const { kind } = this.#program[state] as Instruction; // targets are inside the program
        if (kind === "match") {
          states.isMatch = true;
        } else if (kind !== "set") {
          looked += kind === "split" ? this.#followFar(state, before, ahead, states) : this.#followIf(kind, state, before, ahead, states);
        }
      }
    }
    return looked;
  }

  #followIf(kind: Assertion, state: number, before: number, ahead: number, states: StateSet): number {
    return holds(kind, before, ahead) ? this.#follow(state + 1, before, ahead, states) : 0;
  }

  /** The same from a fork whose ways are too many to be remembered for each instruction. */
  #followFar(fork: number, before: number, ahead: number, states: StateSet): number {
    const open = [...(this.#program[fork] as Fork).to];
    let looked = open.length;
    for (let state = open.pop(); state !== undefined; state = open.pop()) {
      const instruction = this.#program[state] as Instruction;
      if (instruction.kind !== "split") {
        looked += this.#follow(state, before, ahead, states);
      } else if (states.add(state)) {
        looked += instruction.to.length;
        open.push(...instruction.to);
      }
    }
    return looked;
  }

  /** ajv tells patterns apart by their text. */
  toString(): string {
    return `/${this.#pattern}/`;
  }
}

/** Of work, in nanoseconds or so. */
const nsOfCall = 100;
const nsOfInstruction = 13;

/** From more, each way is gone again for each character. */
const maxRemembered = 64;

/**
 * What can be reached from an instruction without taking a character or asking where in the text that is; the instruction alone where that
 * is much.
 */
function reachedFrom(program: readonly Instruction[], first: number): readonly number[] {
  const seen = new Set([first]);
  const reached: number[] = [];
  for (const state of seen) {
    const instruction = program[state] as Instruction;
    if (instruction.kind !== "split") {
      reached.push(state);
    } else {
      for (const to of instruction.to) {
        seen.add(to); // and is walked in its turn
      }
    }
    if (seen.size > maxRemembered) {
      return [first];
    }
  }
  return reached;
}

/**
 * Whether all matching goes one way from the text's start: single characters, of which at most one is repeated as often as it fits. Dates,
 * codes and UUIDs are written so.
 */
function isStraight(node: PatternNode): boolean {
  const [first, ...rest] = node.kind === "sequence" ? node.parts : [];
  const repeats = rest.filter((part) => part.kind === "repeat");
  const areSingle = rest.every((part) => (part.kind === "repeat" ? part.part.kind === "set" : part.kind === "set" || part.kind === "end"));
  return first?.kind === "start" && areSingle && repeats.filter(({ min, max }) => min !== max).length <= 1;
}

/** Null where the runtime reads patterns more strictly. */
function linearPattern(pattern: string): RegExp | null {
  try {
    return new RegExp(pattern, "u");
  } catch {
    return null;
  }
}

class StateSet {
  isMatch = false;
  size = 0;
  readonly #order: Uint16Array;
  readonly #has: Uint8Array;

  constructor(length: number) {
    this.#order = new Uint16Array(length);
    this.#has = new Uint8Array(length);
  }

  add(state: number): boolean {
    if (this.#has[state] === 1) {
      return false;
    }
    this.#has[state] = 1;
    this.#order[this.size++] = state;
    return true;
  }

  at(i: number): number {
    return this.#order[i] as number; // below the size
  }

  clear(): void {
    for (let i = 0; i < this.size; i++) {
      this.#has[this.at(i)] = 0;
    }
    this.size = 0;
    this.isMatch = false;
  }
}

function holds(kind: Assertion, before: number, ahead: number): boolean {
  switch (kind) {
    case "start":
      return before < 0;
    case "end":
      return ahead < 0;
    default:
      return (isWordCharacter(before) !== isWordCharacter(ahead)) === (kind === "boundary");
  }
}

function push(program: Instruction[], instruction: Instruction): void {
  if (program.length >= maxInstructions) {
    throw unusable("repeats more than can be checked within bounds");
  }
  program.push(instruction);
}

function emit(node: PatternNode, program: Instruction[]): void {
  switch (node.kind) {
    case "sequence":
      for (const part of node.parts) {
        emit(part, program);
      }
      return;
    case "choice":
      emitChoice(node.parts, program);
      return;
    case "repeat":
      emitRepeat(node.part, node.min, node.max, program);
      return;
    default:
      push(program, node);
  }
}

function emitChoice(parts: readonly PatternNode[], program: Instruction[]): void {
  const fork: number[] = [];
  push(program, { kind: "split", to: fork });
  const exits: number[][] = [];
  for (const part of parts) {
    fork.push(program.length);
    emit(part, program);
    const exit: number[] = [];
    push(program, { kind: "split", to: exit });
    exits.push(exit);
  }
  for (const exit of exits) {
    exit.push(program.length);
  }
}

function emitRepeat(part: PatternNode, min: number, max: number, program: Instruction[]): void {
  for (let i = 0; i < min; i++) {
    emitCounted(part, program);
  }
  if (max === Number.POSITIVE_INFINITY) {
    const loop = program.length;
    const fork = [loop + 1];
    push(program, { kind: "split", to: fork });
    emit(part, program);
    push(program, { kind: "split", to: [loop] });
    fork.push(program.length);
    return;
  }
  const forks: number[][] = [];
  for (let i = min; i < max; i++) {
    const fork = [program.length + 1];
    push(program, { kind: "split", to: fork });
    forks.push(fork);
    emitCounted(part, program);
  }
  for (const fork of forks) {
    fork.push(program.length);
  }
}

/** A part of no instructions is repeated as often as a pattern asks: each time must count. */
function emitCounted(part: PatternNode, program: Instruction[]): void {
  const before = program.length;
  emit(part, program);
  if (program.length === before) {
    push(program, { kind: "split", to: [before + 1] });
  }
}
