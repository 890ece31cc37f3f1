import type { Change } from 'guard-gateway/core'
import type { OpenRun } from './open-run.ts'
import type { Prepared } from './prepare.ts'

/** The changes that store the records of a fragment; with `when`, none of them may be stored yet. */
export const recordChanges = (
  { spans, events, artifacts }: Prepared,
  when: { readonly when?: 'absent' } = {},
): Change[] => [
  ...spans.filter(({ changed }) => changed).map(({ row }): Change => ({ table: 'spans', put: row, ...when })),
  ...events.filter(({ changed }) => changed).map(({ row }): Change => ({ table: 'events', put: row, ...when })),
  ...artifacts.filter(({ changed }) => changed).map(({ row }): Change => ({ table: 'artifacts', put: row, ...when })),
]

/** Adds the records of a fragment to its run, one per step. */
export function* addRecords({ spans, events, artifacts, rebuild }: Prepared, run: OpenRun): Generator<undefined> {
  // a run that was loaded again holds the changed records already
  const isNew = ({ old, changed }: { readonly old: unknown; readonly changed: boolean }) =>
    old === undefined || (changed && !rebuild)
  for (const { row } of spans.filter(isNew)) yield void run.addSpan(row)
  for (const event of events.filter(isNew)) {
    if (event.old === undefined) yield void run.addEvent(event.row)
    else yield void run.changeEvent(event.row)
  }
  for (const { row, old } of artifacts) if (old === undefined) yield void run.addArtifact(row)
}
