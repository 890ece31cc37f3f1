import assert from 'node:assert/strict'
import type { ArtifactDraft, EventDraft, RunDraft, SpanDraft } from 'guard-gateway/core'
import type { ExportFormat, ExportOptions, ImportWarning } from '#lib/export-format'
import type { Trace } from '#lib/trace'
import { ImportFile, writeTrace } from '#lib/trace-file'

/** The text of a trace in a format. */
export const exported = (format: ExportFormat, trace: Trace, options?: ExportOptions): string =>
  [...writeTrace(format, trace, options)].join('')

/** A run of a file with its records, in the order of the file. */
export interface ReadRun {
  readonly run: RunDraft
  readonly spans: readonly SpanDraft[]
  readonly events: readonly EventDraft[]
  readonly artifacts: readonly ArtifactDraft[]
}

/** All that a format reads in a text that comes in chunks of so many bytes. */
export const readBy = (
  format: Pick<ExportFormat, 'read'>,
  text: string,
  chunk = 65_536,
): { readonly runs: readonly ReadRun[]; readonly warnings: readonly ImportWarning[] } => {
  assert.ok(format.read)
  const bytes = Buffer.from(text)
  const file = new ImportFile(function* () {
    for (let at = 0; at < bytes.length; at += chunk) yield bytes.subarray(at, at + chunk)
  })
  const reading = format.read(file)
  const runs = reading.runs.map(({ run }) => ({
    run,
    spans: [] as SpanDraft[],
    events: [] as EventDraft[],
    artifacts: [] as ArtifactDraft[],
  }))
  for (const one of reading.records()) {
    const into = runs[one.run]
    assert.ok(into)
    assert.equal(one.kind !== 'span' || one.parent === null, one.kind !== 'span' || one.record.parent_id == null)
    if (one.kind === 'span') into.spans.push(one.record)
    else if (one.kind === 'event') into.events.push(one.record)
    else into.artifacts.push(one.record)
  }
  for (const [place, { spans, events, artifacts }] of reading.runs.entries())
    assert.deepEqual([spans, events, artifacts], counts(runs[place]))
  return { runs, warnings: reading.warnings }
}

const counts = (run: ReadRun | undefined) => [run?.spans.length, run?.events.length, run?.artifacts.length]
