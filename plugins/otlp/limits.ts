import type { Attributes } from 'guard-gateway/core'
import { fitted, type MetadataOnly, type OtlpRun } from 'guard-gateway/lib/otlp'

/** The run with every record within its limits, and in words what was cut. `names` tells what goes last. */
export const withinLimits = (
  run: OtlpRun,
  names: MetadataOnly,
): { readonly run: OtlpRun; readonly notes: readonly string[] } => {
  const notes: string[] = []
  const fit = <R extends { readonly attributes?: Attributes }>(record: R, what: string): R => {
    if (record.attributes === undefined) return record
    const attributes = fitted(record.attributes, names, (count) =>
      notes.push(`${what}: ${count} attributes beyond what a record may have were left out`),
    )
    return attributes === record.attributes ? record : { ...record, attributes }
  }
  const cut: OtlpRun = {
    ...run,
    run: fit(run.run, 'the resource'),
    spans: run.spans.map(({ record, place }) => ({ record: fit(record, `span ${record.id}`), place })),
    events: run.events.map(({ record, place }) => ({ record: fit(record, 'an event'), place })),
    artifacts: run.artifacts.map(({ record, place }) => ({ record: fit(record, 'an artifact'), place })),
  }
  return { run: cut, notes }
}
