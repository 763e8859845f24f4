import { type CharacterTest, isWordCharacter, parsePattern, type PatternNode, unusable } from "./pattern-parser.ts";

/** Takes what a step of work costs from a message's budget; throws where there is none left. */
export type Spend = (steps: number) => void;

const mostInstructions = 5_000;

type Instruction =
  | { readonly kind: "set"; readonly has: CharacterTest }
  | { readonly kind: "split"; readonly to: number[] }
  | { readonly kind: "start" | "end" | "boundary" | "inside" | "match" };

/**
 * A regular expression that takes time in proportion to the text and to itself, whatever both are: all ways through it are followed at once
 * (Thompson 1968) instead of one after the other, as the runtime's own does, which some texts keep busy for years.
 */
export class BoundedPattern {
  readonly #pattern: string;
  readonly #program: readonly Instruction[];
  readonly #spend: Spend;
  /** The runtime's own, where it cannot go astray. */
  readonly #quick: RegExp | null;

  constructor(pattern: string, spend: Spend) {
    this.#pattern = pattern;
    this.#spend = spend;
    const program: Instruction[] = [];
    const structure = parsePattern(pattern);
    this.#quick = isStraight(structure) ? quickPattern(pattern) : null;
    emit(structure, program);
    push(program, { kind: "match" });
    this.#program = program;
  }

  /** Whether the pattern is found anywhere in the text. */
  test(text: string): boolean {
    if (this.#quick !== null) {
      this.#spend(1 + text.length / charactersPerStep);
      return this.#quick.test(text);
    }
    const { length } = this.#program;
    let states = new StateSet(length);
    let next = new StateSet(length);
    for (let at = 0, before = -1; ; ) {
      const code = at < text.length ? (text.codePointAt(at) as number) : -1; // inside the text
      // Those that began earlier are here by now; one more begins at each place.
      this.#follow(0, before, code, states);
      if (states.isMatch) {
        return true;
      }
      if (code < 0) {
        return false;
      }
      this.#spend(states.size + 1);
      const after = at + (code > 0xffff ? 2 : 1);
      const ahead = after < text.length ? (text.codePointAt(after) as number) : -1;
      next.clear();
      for (let i = 0; i < states.size; i++) {
        const state = states.at(i);
        const instruction = this.#program[state] as Instruction;
        if (instruction.kind === "set" && instruction.has(code)) {
          this.#follow(state + 1, code, ahead, next);
        }
      }
      [states, next] = [next, states];
      at = after;
      before = code;
    }
  }

  /** Adds an instruction and all that can be reached from it without taking a character. */
  #follow(first: number, before: number, ahead: number, states: StateSet): void {
    const open = [first];
    for (let state = open.pop(); state !== undefined; state = open.pop()) {
      if (!states.add(state)) {
        continue;
      }
      const instruction = this.#program[state] as Instruction; // targets are inside the program
      if (instruction.kind === "split") {
        open.push(...instruction.to);
      } else if (instruction.kind === "match") {
        states.isMatch = true;
      } else if (instruction.kind !== "set" && holds(instruction.kind, before, ahead)) {
        open.push(state + 1);
      }
    }
  }

  /** ajv tells patterns apart by their text. */
  toString(): string {
    return `/${this.#pattern}/`;
  }
}

const charactersPerStep = 16;

/**
 * Whether all matching goes one way from the text's start: single characters, of which at most one is repeated as often as it fits. Dates,
 * codes and UUIDs are written so.
 */
function isStraight(node: PatternNode): boolean {
  const [first, ...rest] = node.kind === "sequence" ? node.parts : [];
  const repeats = rest.filter((part) => part.kind === "repeat");
  const areSingle = rest.every((part) => (part.kind === "repeat" ? part.part.kind === "set" : part.kind === "set" || part.kind === "end"));
  return first?.kind === "start" && areSingle && repeats.filter(({ least, most }) => least !== most).length <= 1;
}

/** Null where the runtime reads patterns more strictly. */
function quickPattern(pattern: string): RegExp | null {
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

function holds(kind: "start" | "end" | "boundary" | "inside", before: number, ahead: number): boolean {
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
  if (program.length >= mostInstructions) {
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
      emitRepeat(node.part, node.least, node.most, program);
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

function emitRepeat(part: PatternNode, least: number, most: number, program: Instruction[]): void {
  for (let i = 0; i < least; i++) {
    emitCounted(part, program);
  }
  if (most === Number.POSITIVE_INFINITY) {
    const loop = program.length;
    const fork = [loop + 1];
    push(program, { kind: "split", to: fork });
    emit(part, program);
    push(program, { kind: "split", to: [loop] });
    fork.push(program.length);
    return;
  }
  const forks: number[][] = [];
  for (let i = least; i < most; i++) {
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
