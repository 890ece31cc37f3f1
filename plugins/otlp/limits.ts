import type { Attributes } from 'guard-gateway/core'
import { fitAttributes, type MetadataOnly, type OtlpRun } from '#lib/otlp'
import { mapPaced, type Pace } from '#lib/time-slice'

/** Truncates records to their limits, with notes, and yields to other work. `names` has the metadata keys, which are dropped last. */
export const withinLimits = async (
  run: OtlpRun,
  names: MetadataOnly,
  pace: Pace,
): Promise<{ readonly run: OtlpRun; readonly notes: readonly string[] }> => {
  const notes: string[] = []
  const fit = <R extends { readonly attributes?: Attributes }>(record: R, what: string): R => {
    if (record.attributes === undefined) return record
    const attributes = fitAttributes(record.attributes, names, (count) =>
      notes.push(`${what}: ${count} attributes beyond what a record may have were left out`),
    )
    return attributes === record.attributes ? record : { ...record, attributes }
  }
  const limited: OtlpRun = {
    ...run,
    run: fit(run.run, 'the resource'),
    spans: await mapPaced(run.spans, pace, ({ record, place }) => ({
      record: fit(record, `span ${record.id}`),
      place,
    })),
    events: await mapPaced(run.events, pace, ({ record, place }) => ({ record: fit(record, 'an event'), place })),
    artifacts: await mapPaced(run.artifacts, pace, ({ record, place }) => ({
      record: fit(record, 'an artifact'),
      place,
    })),
  }
  return { run: limited, notes }
}
