import type { CodecSuite, LinkedCodecMeasure } from "../codec/codec-result.ts";
import { processingMs, transportMs } from "../codec/link.ts";
import { type PublishedCodec, publishedLink, publishedTables } from "../codec/published.ts";
import { formatCount, formatDuration } from "../report/quantities.ts";
import type { Block, Cell, TableHead } from "../presentation/document.ts";

/** One figure of a published table: what was published, and what was measured here. */
interface Column {
  readonly title: string;
  readonly published: (row: PublishedCodec) => number | undefined;
  readonly here: (measure: LinkedCodecMeasure) => number | null;
  readonly show: (value: number) => string;
}

const seconds = (ms: number): string => formatDuration(ms * 1e6);

const columns: readonly Column[] = [
  { title: "write", published: ({ writeMs }) => writeMs, here: ({ write }) => write?.ms.median ?? null, show: seconds },
  { title: "read", published: ({ readMs }) => readMs, here: ({ read }) => read.ms.median, show: seconds },
  { title: "write + read", published: ({ totalMs }) => totalMs, here: processingMs, show: seconds },
  { title: "bytes", published: ({ sizeBytes }) => sizeBytes, here: ({ sizeBytes }) => sizeBytes, show: formatCount },
  {
    title: "100 Mbit/s sum",
    published: ({ linkMs }) => linkMs,
    here: (measure) => (processingMs(measure) ?? 0) + transportMs(measure.sizeBytes, publishedLink),
    show: seconds,
  },
];

/** The published table of a suite beside the figures of this run, as multiples of plain JSON, too; nothing if none was published. */
export function publishedBlocks({ suite, mode, rows, codecs }: CodecSuite<LinkedCodecMeasure>): readonly Block[] {
  const table = publishedTables.find((each) => each.suite === suite && each.mode === mode);
  const json = codecs[0];
  if (table === undefined || json === undefined) {
    return [];
  }
  const paragraph: readonly Block[] =
    rows === table.rows
      ? []
      : [
          {
            kind: "paragraph",
            text: otherRowsText(table.rows, rows),
          },
        ];
  const first = table.codecs[0];
  const blocks = columns.flatMap(({ title, published, here, show }): readonly Block[] => {
    const base = first === undefined ? undefined : published(first);
    const found = table.codecs.flatMap((row) => {
      const measure = codecs.find(({ codec }) => codec === row.codec);
      const [before, now] = [published(row), measure === undefined ? null : here(measure)];
      return before === undefined || now === null || base === undefined ? [] : [{ row, before, now }];
    });
    const jsonNow = here(json);
    if (found.length === 0 || base === undefined || jsonNow === null) {
      return [];
    }
    return [
      {
        kind: "table",
        title: `As published: ${table.title}; ${title}`,
        columns: publishedHead,
        rows: found.map(({ row, before, now }) => [
          row.published,
          cell(show(before), before),
          cell(`${(before / base).toFixed(2)}x`, before / base),
          cell(show(now), now),
          cell(`${(now / jsonNow).toFixed(2)}x`, now / jsonNow),
        ]),
      },
    ];
  });
  return blocks.length === 0 ? [] : [...paragraph, ...blocks];
}

/** What stands beside published figures if those here are of more rows or of fewer. */
export function otherRowsText(publishedRows: number, rows: number): string {
  return `Published with ${formatCount(publishedRows)} rows, here with ${formatCount(rows)}: only the multiples can be compared.`;
}

const publishedHead: readonly TableHead[] = [
  { title: "published as", align: "left" },
  { title: "published" },
  { title: "x" },
  { title: "here" },
  { title: "x" },
];

function cell(text: string, value: number): Cell {
  return { text, value };
}
