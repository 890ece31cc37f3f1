import type { ArtifactDraft, EventDraft, SpanDraft } from 'guard-gateway/core'
import type { ImportedRecord, ImportReading, ImportWarning } from '#lib/export-format'
import { traceFileErrors } from '../error-codes.ts'
import { errorAt } from './elements.ts'
import { ImportFault, type ImportLocation, memberLocation } from './import-fault.ts'
import type { RunOutline } from './outline.ts'

/** So many warnings name a span and its line. */
const MAX_NAMED = 100

/** A record of a file as its format finds it; `where` gives line and pointer of a location in it. */
export type FoundRecord = {
  readonly outline: RunOutline
  readonly place: ImportLocation
  readonly where: (place: ImportLocation) => { readonly line: number; readonly path: string }
} & (
  | { readonly kind: 'span'; readonly record: SpanDraft }
  | { readonly kind: 'event'; readonly record: EventDraft }
  | { readonly kind: 'artifact'; readonly record: ArtifactDraft }
)

/** Takes all records into their outlines. Throws GuardError with line and pointer. */
export const addToOutlines = (records: Iterable<FoundRecord>): void => {
  for (const found of records) {
    try {
      if (found.kind === 'span') found.outline.addSpan(found.record, found.place)
      else if (found.kind === 'event') found.outline.addEvent(found.record, found.place)
      else found.outline.addArtifact(found.record, found.place)
    } catch (error) {
      throw errorAt(error, found.where)
    }
  }
}

/** The reading of a file whose records were taken into `outlines`; `records` goes through them once more. Throws GuardError for a circle of parents. */
export const importReading = (outlines: readonly RunOutline[], records: () => Iterable<FoundRecord>): ImportReading => {
  refuseCircles(outlines, records)
  const places = new Map(outlines.map((outline, place) => [outline, place]))
  const runs = outlines.flatMap((outline) => (outline.run === undefined ? [] : [outline.summary(outline.run)]))
  return {
    runs,
    warnings: orphanWarnings(outlines, records),
    *records() {
      for (const found of records()) yield imported(found, places.get(found.outline) ?? 0)
    },
  }
}

const imported = (found: FoundRecord, run: number): ImportedRecord => {
  const { outline } = found
  if (found.kind === 'span') return outline.span(run, found.record)
  const parent = outline.placeOf(found.record.span_id)
  return found.kind === 'event'
    ? { kind: 'event', run, parent, record: found.record }
    : { kind: 'artifact', run, parent, record: found.record }
}

function* spansOf(records: Iterable<FoundRecord>) {
  for (const found of records) if (found.kind === 'span') yield found
}

const refuseCircles = (outlines: readonly RunOutline[], records: () => Iterable<FoundRecord>): void => {
  for (const outline of outlines) {
    const id = outline.inCircle()
    if (id === undefined) continue
    for (const found of spansOf(records())) {
      if (found.outline !== outline || found.record.id !== id) continue
      const fault = new ImportFault(
        traceFileErrors.PARENT_CYCLE,
        `Span "${id}" is among its own ancestors.`,
        memberLocation(found.place, 'parent_id'),
      )
      throw errorAt(fault, found.where)
    }
  }
}

const orphanWarnings = (
  outlines: readonly RunOutline[],
  records: () => Iterable<FoundRecord>,
): readonly ImportWarning[] => {
  const warnings: ImportWarning[] = []
  const left = new Map(outlines.map((outline) => [outline, outline.orphans]))
  if (![...left.values()].some((count) => count > 0)) return warnings
  for (const { outline, record, place, where } of spansOf(records())) {
    if (warnings.length >= MAX_NAMED) break
    if (!outline.isOrphan(record)) continue
    left.set(outline, (left.get(outline) ?? 0) - 1)
    warnings.push({
      code: 'orphan_parent',
      message: `Span "${record.id}" names a parent that is not in the run; it now stands below the root.`,
      ...where(memberLocation(place, 'parent_id')),
    })
  }
  for (const [{ run }, count] of left) {
    if (count === 0) continue
    const message = `${count} more spans of run "${run?.trace_id}" name parents that are not in it.`
    warnings.push({ code: 'orphan_parent', message })
  }
  return warnings
}
