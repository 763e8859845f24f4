import { type EventHandler, isControlKind, type KeyChecks, type RowChecks, type TableHandlers, tableSlots } from "@cdckit/consumer";
import { NestCdcError } from "./errors.ts";

/** What happened to a table, as the handlers of a table are named; `"batch"` takes all of it, several events at a time. */
export type CdcSlot = keyof TableHandlers;

/** How a method takes the events of a table. */
export interface CdcHandlerOptions {
  /** The columns that `before`, `after` and `row` have: in most encodings, the others are skipped in the bytes. Without it, all. */
  readonly columns?: readonly string[];
  /** With `"batch"`: the operations that are taken. Without it, all. */
  readonly ops?: readonly Extract<CdcSlot, "create" | "update" | "delete" | "read">[];
  /** The validators that rows and keys must pass before the method gets them. */
  readonly checks?: RowChecks | KeyChecks;
}

/** What a decorated method is to be called for. */
export interface HandlerMark {
  readonly method: string | symbol;
  readonly pattern: string;
  /** Null: the method takes whole events of the pattern, as for `"*"` and control kinds. */
  readonly slots: readonly CdcSlot[] | null;
  readonly options: CdcHandlerOptions;
}

/** A decorator of methods with an event as their parameter. */
export type CdcMethodDecorator = <Method extends EventHandler<never>>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<Method>,
) => void;

// On the class itself, and under a key that every copy of this package knows: another decorator may replace the method.
const marksKey = Symbol.for("@cdckit/nestjs/handlers");

/**
 * The method is called for change events. `@CdcHandler("public.orders", "update")`: for the updates of a table, or for several things that
 * happen to it (`["create", "read"]`), or for all (without a second argument). `@CdcHandler("*")` takes what no other handler took, and
 * `@CdcHandler("heartbeat")` the control events of a kind; both without options. Patterns are those of `consumer.on`.
 */
export function CdcHandler(pattern: string, slots?: CdcSlot | readonly CdcSlot[], options: CdcHandlerOptions = {}): CdcMethodDecorator {
  if (typeof pattern !== "string") {
    const found = (pattern as unknown) instanceof RegExp ? `the regular expression ${String(pattern)}` : typeof pattern;
    throw new NestCdcError(
      "invalid-handler",
      `@CdcHandler expects a text: the name of a table or a topic, "*" or the kind of a control event, found ${found}`,
    );
  }
  const isForAnyEvent = slots === undefined && (pattern === "*" || isControlKind(pattern));
  const given = Object.entries(options).find(([, value]) => value !== undefined);
  if (isForAnyEvent && given !== undefined) {
    throw new NestCdcError(
      "invalid-handler",
      `@CdcHandler(${JSON.stringify(pattern)}) takes whole events, and ${given[0]} is for those of tables: name what happens to them, or leave it out`,
    );
  }
  return (target, key, descriptor: PropertyDescriptor | undefined) => {
    if (typeof key === "object") {
      throw new NestCdcError("invalid-handler", 'expected the decorators that Nest uses: set "experimentalDecorators" in tsconfig.json');
    }
    if (typeof target === "function") {
      const name = `${target.name}.${String(key)}`;
      throw new NestCdcError("invalid-handler", `${name} is static, and events are given to methods of an instance; leave "static" out`);
    }
    if (descriptor === undefined || descriptor.get !== undefined) {
      const what = descriptor === undefined ? "a property" : "an accessor";
      throw new NestCdcError("invalid-handler", `${target.constructor.name}.${String(key)} is ${what}, and no method: make it one`);
    }
    const mark: HandlerMark = { method: key, pattern, slots: isForAnyEvent ? null : [slots ?? tableSlots].flat(), options };
    const marks = Object.hasOwn(target, marksKey) ? marksAt(target) : [];
    Object.defineProperty(target, marksKey, { value: [...marks, mark], configurable: true });
  };
}

/** The marks of an instance's class and of those that it extends. A method that a class decorates again has the marks of that class alone. */
export function handlerMarksOf(instance: object): readonly HandlerMark[] {
  const found: HandlerMark[] = [];
  for (
    let target = Object.getPrototypeOf(instance) as object | null;
    target !== null;
    target = Object.getPrototypeOf(target) as object | null
  ) {
    const marks = Object.hasOwn(target, marksKey) ? marksAt(target) : [];
    found.push(...marks.filter(({ method }) => !found.some((other) => other.method === method)));
  }
  return found;
}

function marksAt(target: object): readonly HandlerMark[] {
  return Reflect.get(target, marksKey) as readonly HandlerMark[]; // only the decorator sets it
}
