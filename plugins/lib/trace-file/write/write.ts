import { withErrorOrigin } from 'guard-gateway/core'
import type { ExportFormat, ExportOptions, TraceWriter } from '#lib/export-format'
import type { Artifact, Run, Trace, TraceEvent, TreeNode } from '#lib/trace'
import { type OrderedRecord, orderedRecords } from './record-order.ts'

/** Characters: few pieces are cheap to send, small ones to hold. */
const PIECE_LENGTH = 32_768

/** A record of a run on its way out. */
export type TraceRecord = OrderedRecord<TreeNode, TraceEvent, Artifact>

/** A run that is read while it is written, some records at a time. */
export interface TraceReader {
  readonly run: Run
  /** All records in the order of the export format. Pages are read on demand. */
  pages(order: NonNullable<ExportFormat['order']>): AsyncIterable<readonly TraceRecord[]>
}

const textOf = (writer: TraceWriter, record: TraceRecord): string => {
  if (record.kind === 'span') return writer.span(record.span)
  return record.kind === 'event'
    ? writer.event(record.event, record.span)
    : writer.artifact(record.artifact, record.span)
}

type Written = Pick<ExportFormat, 'id' | 'writer' | 'order'>

/** Writes with a new writer of the format; what it throws is noted as the format's. */
const writing = ({ id, writer }: Written, run: Run, options: ExportOptions) => {
  const who = `export-format:${id}`
  const made = withErrorOrigin(who, () => writer(run, options))
  return (write: (made: TraceWriter) => string): string => withErrorOrigin(who, () => write(made))
}

/** A run in memory, as a file in pieces of about 32 Ki characters. */
export function* writeTrace(format: Written, trace: Trace, options: ExportOptions = {}) {
  const written = writing(format, trace.run, options)
  let piece = written((writer) => writer.begin())
  for (const record of orderedRecords(trace, format.order ?? 'records')) {
    piece += written((writer) => textOf(writer, record))
    if (piece.length < PIECE_LENGTH) continue
    yield piece
    piece = ''
  }
  yield piece + written((writer) => writer.end())
}

/** The same of a run that is read on the way: no page is read before the pieces of the one before were taken. */
export async function* streamTrace(
  format: Written,
  reader: TraceReader,
  options: ExportOptions = {},
): AsyncGenerator<string> {
  const written = writing(format, reader.run, options)
  let piece = written((writer) => writer.begin())
  for await (const page of reader.pages(format.order ?? 'records')) {
    for (const record of page) {
      piece += written((writer) => textOf(writer, record))
      if (piece.length < PIECE_LENGTH) continue
      yield piece
      piece = ''
    }
  }
  yield piece + written((writer) => writer.end())
}
