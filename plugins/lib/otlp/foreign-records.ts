import type { Attributes } from 'guard-gateway/core'
import type { ImportWarning } from 'guard-gateway/lib/export-format'
import { MetadataOnly } from './content/metadata-only.ts'
import { MetadataRecords } from './content/metadata-records.ts'
import { fitAttributes } from './fit-attributes.ts'

/** What records of other programs go through. */
export interface Foreign {
  readonly quiet: MetadataRecords
  /** The record with attributes that fit. */
  fit<R extends { readonly attributes?: Attributes }>(record: R): R
}

/** Counts removed records in `counts`: content, and records over a limit. */
export const foreignRecords = (counts: { content: number; cut: number }): Foreign => {
  const names = new MetadataOnly()
  const quiet = new MetadataRecords(names, (count) => {
    counts.content += count
  })
  const cut = (count: number): void => {
    counts.cut += count
  }
  return {
    quiet,
    fit: (record) =>
      record.attributes === undefined
        ? record
        : { ...record, attributes: fitAttributes(record.attributes, names, cut) },
  }
}

/** What to say of it. */
export const droppedWarnings = ({
  content,
  cut,
}: {
  readonly content: number
  readonly cut: number
}): readonly ImportWarning[] => {
  const warnings: ImportWarning[] = []
  if (content > 0)
    warnings.push({
      code: 'content_dropped',
      message: `${content} attributes or events that may tell what people, models or tools said were left out.`,
    })
  if (cut > 0)
    warnings.push({
      code: 'attributes_dropped',
      message: `${cut} attributes beyond what a record may have were left out.`,
    })
  return warnings
}
