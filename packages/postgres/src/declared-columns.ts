import type { Field, SchemaSeen } from "@cdckit/decode";
import { columnTypeOf, commonType, hasPlainTexts } from "./column-type.ts";
import { valueText } from "./value-text.ts";

/** A column that rows need. */
export interface WantedColumn {
  readonly type: string;
  /** A schema declares it. If not, the type is that of the values so far. */
  readonly isDeclared: boolean;
  /** The default that the schema states, as text. */
  readonly defaultText?: string | undefined;
}

/** What schemas declare of the columns of a table, or of a source table whose rows have not come yet. */
export class DeclaredColumns {
  /** With types that hold the values of every schema seen, and the defaults of the latest one. */
  readonly wanted: Map<string, WantedColumn> = new Map();
  /** The columns whose texts are no texts of JSON documents, in any schema seen. */
  readonly plainTexts: Set<string> = new Set();

  /** Adds the columns of a schema. Whether a table that has held all of it may not do so any more. */
  add(fields: readonly Field[], side: SchemaSeen["side"]): boolean {
    let isNews = false;
    for (const { name, type, defaultValue } of fields) {
      const declared = columnTypeOf(type);
      const defaultText = defaultValue === undefined ? undefined : (valueText(defaultValue, declared) ?? "");
      const before = this.wanted.get(name);
      if (hasPlainTexts(type)) {
        isNews = this.#addPlainText(name) || isNews;
      }
      if (before === undefined) {
        this.wanted.set(name, { type: declared, isDeclared: true, defaultText });
        isNews = true;
      } else {
        // An old schema may be seen after a new one, because partitions are read at different speeds: it must not narrow what the new one widened.
        const common = side === "value" ? commonType(before.type, declared) : before.type;
        this.wanted.set(name, {
          type: common,
          isDeclared: true,
          defaultText: side === "value" ? defaultText : (defaultText ?? before.defaultText),
        });
        isNews ||= common !== before.type;
      }
    }
    return isNews;
  }

  /** Adds what schemas of another source table declare. Whether that is news, as above. */
  addAll({ wanted, plainTexts }: DeclaredColumns): boolean {
    let isNews = false;
    for (const [name, column] of wanted) {
      const before = this.wanted.get(name);
      const type = before === undefined ? column.type : commonType(column.type, before.type);
      if (before?.type !== type) {
        this.wanted.set(name, { ...(before ?? column), type });
        isNews = true;
      }
    }
    for (const name of plainTexts) {
      isNews = this.#addPlainText(name) || isNews;
    }
    return isNews;
  }

  #addPlainText(name: string): boolean {
    const isNew = !this.plainTexts.has(name);
    this.plainTexts.add(name);
    return isNew;
  }
}
