import { type Features, invalidProto, type ProtoEnum, type ProtoField, type ProtoFile, type ProtoMessage, shownName } from "./file.ts";

/** What a full name refers to. */
export type Named =
  | { readonly kind: "message"; readonly fullName: string; readonly message: ProtoMessage; readonly place: Place }
  | { readonly kind: "enum"; readonly fullName: string; readonly enum: ProtoEnum };

/** What a declaration inherits from its file and from the messages around it. */
export interface Place {
  readonly syntax: ProtoFile["syntax"];
  readonly features: Features;
  /** Whether the file is one of those that every schema may use. */
  readonly isBuiltIn: boolean;
}

/** A field that is added to a message from outside. */
export interface Extension {
  /** The scope of the declaration: its full name and its references start there. */
  readonly scope: string;
  readonly field: ProtoField;
  readonly place: Place;
}

/** All messages and enums of a schema's files by their full names. If two files define the same name, the first one counts. */
export class Names {
  readonly #named = new Map<string, Named>();
  readonly #declared: (Extension & { readonly extended: string })[] = [];
  #extensions: Map<ProtoMessage, Extension[]> | null = null;

  addFile(file: ProtoFile, isBuiltIn: boolean): void {
    const place: Place = { syntax: file.syntax, features: file.features, isBuiltIn };
    const known = new Set(this.#named.keys());
    this.#add(file.package, file, place, known);
  }

  get(fullName: string): Named | undefined {
    return this.#named.get(fullName);
  }

  /** Resolves a reference that stands inside of `scope`: it is looked up in `scope`, then in each scope around it. */
  find(reference: string, scope: string): Named {
    return this.#lookUp(reference, scope) ?? unknown(reference);
  }

  /** The fields that all files add to a message, in the order of their declaration. Only valid after all files were added. */
  extensionsOf(message: ProtoMessage): readonly Extension[] {
    this.#extensions ??= this.#assigned();
    return this.#extensions.get(message) ?? [];
  }

  /** Extensions of messages that are in no file (the options of descriptors) are left out. */
  #assigned(): Map<ProtoMessage, Extension[]> {
    const extensions = new Map<ProtoMessage, Extension[]>();
    for (const extension of this.#declared) {
      const named = this.#lookUp(extension.extended, extension.scope);
      if (named?.kind === "message") {
        const known = extensions.get(named.message) ?? [];
        extensions.set(named.message, known);
        known.push(extension);
      }
    }
    return extensions;
  }

  #lookUp(reference: string, scope: string): Named | undefined {
    if (reference.startsWith(".")) {
      return this.#named.get(reference.slice(1));
    }
    for (let outer = scope; outer !== ""; outer = parentOf(outer)) {
      const found = this.#named.get(`${outer}.${reference}`);
      if (found !== undefined) {
        return found;
      }
    }
    return this.#named.get(reference);
  }

  #add(
    scope: string,
    { messages, enums, extensions }: Pick<ProtoFile, "messages" | "enums" | "extensions">,
    place: Place,
    known: ReadonlySet<string>,
  ): void {
    for (const { extended, field } of extensions) {
      this.#declared.push({ extended, scope, field, place });
    }
    for (const node of enums) {
      const fullName = join(scope, node.name);
      this.#define({ kind: "enum", fullName, enum: node }, known);
    }
    for (const message of messages) {
      const fullName = join(scope, message.name);
      const inside: Place = { ...place, features: { ...place.features, ...message.features } };
      this.#define({ kind: "message", fullName, message, place: inside }, known);
      this.#add(fullName, message, inside, known);
    }
  }

  #define(named: Named, known: ReadonlySet<string>): void {
    const { fullName } = named;
    if (known.has(fullName)) {
      return; // an earlier file defines it, and the first definition counts
    }
    if (this.#named.has(fullName)) {
      throw invalidProto(`it defines ${shownName(fullName)} twice`);
    }
    this.#named.set(fullName, named);
  }
}

export function join(scope: string, name: string): string {
  return scope === "" ? name : `${scope}.${name}`;
}

function parentOf(scope: string): string {
  return scope.slice(0, Math.max(0, scope.lastIndexOf(".")));
}

function unknown(reference: string): never {
  throw invalidProto(
    `no message or enum is named ${shownName(reference)} in it or its references; does the registry know all files that it imports?`,
  );
}
