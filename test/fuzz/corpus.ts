import type { KafkaRecord, SchemaSource } from "@cdckit/decode";
import { fromBundle } from "@cdckit/registry";
import { bundledRecordings, loadRecording } from "@cdckit/testkit";

/** Real messages of one recording, and the schemas that they name. */
export interface Seeds {
  readonly name: string;
  readonly records: readonly KafkaRecord[];
  readonly schemas: SchemaSource;
}

/** Of the recordings of one row after the other, some rows tell as much as all. */
const mostRecords = 60;

/** Every bundled recording. */
export async function loadCorpus(): Promise<readonly Seeds[]> {
  const corpus: Seeds[] = [];
  for (const { name, file, schemasFile } of bundledRecordings()) {
    const records = (await loadRecording(file)).slice(0, mostRecords);
    corpus.push({ name, records, schemas: fromBundle(schemasFile) });
  }
  return corpus;
}
