import type { Schema } from './description.ts'

/** Alternatives of a schema; the schema itself if there is one. */
export const alternativesOf = (schema: Schema): readonly Schema[] => {
  const alternatives = schema.anyOf ?? schema.oneOf
  return alternatives === undefined ? [schema] : alternatives.flatMap(alternativesOf)
}

/** Type of a value: `string | null`, `"json" | "jsonl"`, `object[]`. */
export const typeText = (schema: Schema): string => {
  const alternatives = alternativesOf(schema)
  if (alternatives.length > 1) return [...new Set(alternatives.map(typeText))].join(' | ')
  const [alternative = schema] = alternatives
  if (alternative.const !== undefined) return JSON.stringify(alternative.const)
  if (alternative.enum !== undefined) return alternative.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (alternative.items !== undefined) return listText(typeText(alternative.items))
  if (alternative.format === 'binary') return 'bytes'
  return [alternative.type ?? (alternative.properties === undefined ? 'any' : 'object')].flat().join(' | ')
}

const listText = (item: string): string => (item.includes(' | ') ? `(${item})[]` : `${item}[]`)

/** Constraints of a value: range, format and default. */
export const constraintText = (schema: Schema): string => {
  const constraints = alternativesOf(schema).flatMap((alternative) => [
    rangeText(alternative.minimum, alternative.maximum, ''),
    rangeText(alternative.minLength, alternative.maxLength, ' characters'),
    rangeText(alternative.minItems, alternative.maxItems, ' items'),
    alternative.format === undefined || alternative.format === 'binary' ? '' : alternative.format,
    alternative.pattern ?? '',
  ])
  const fallback = schema.default === undefined ? '' : `${JSON.stringify(schema.default)} if absent`
  return [...new Set([...constraints, fallback])].filter((text) => text !== '').join(', ')
}

const rangeText = (min: number | undefined, max: number | undefined, unit: string): string => {
  if (min === undefined && max === undefined) return ''
  if (max === undefined) return `at least ${min}${unit}`
  if (min === undefined) return `at most ${max}${unit}`
  return min === max ? `${min}${unit}` : `${min} to ${max}${unit}`
}
