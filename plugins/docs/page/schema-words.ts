import type { Schema } from './description.ts'

/** The forms that a value may have, where it may have several; else itself. */
export const formsOf = (schema: Schema): readonly Schema[] => {
  const forms = schema.anyOf ?? schema.oneOf
  return forms === undefined ? [schema] : forms.flatMap(formsOf)
}

/** What a value is, in a few words: `string | null`, `"json" | "jsonl"`, `object[]`. */
export const typeText = (schema: Schema): string => {
  const forms = formsOf(schema)
  if (forms.length > 1) return [...new Set(forms.map(typeText))].join(' | ')
  const [form = schema] = forms
  if (form.const !== undefined) return JSON.stringify(form.const)
  if (form.enum !== undefined) return form.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (form.items !== undefined) return listText(typeText(form.items))
  if (form.format === 'binary') return 'bytes'
  return [form.type ?? (form.properties === undefined ? 'any' : 'object')].flat().join(' | ')
}

const listText = (item: string): string => (item.includes(' | ') ? `(${item})[]` : `${item}[]`)

/** What else must be true of a value: bounds, form, and what stands for one that is absent. */
export const limitText = (schema: Schema): string => {
  const known = formsOf(schema).flatMap((form) => [
    rangeText(form.minimum, form.maximum, ''),
    rangeText(form.minLength, form.maxLength, ' characters'),
    rangeText(form.minItems, form.maxItems, ' items'),
    form.format === undefined || form.format === 'binary' ? '' : form.format,
    form.pattern ?? '',
  ])
  const otherwise = schema.default === undefined ? '' : `${JSON.stringify(schema.default)} if absent`
  return [...new Set([...known, otherwise])].filter((text) => text !== '').join(', ')
}

const rangeText = (least: number | undefined, most: number | undefined, unit: string): string => {
  if (least === undefined && most === undefined) return ''
  if (most === undefined) return `at least ${least}${unit}`
  if (least === undefined) return `at most ${most}${unit}`
  return least === most ? `${least}${unit}` : `${least} to ${most}${unit}`
}
