import type { Hit } from './hit.ts'

/**
 * Azure's keys carry a signature of the service in a fixed place. By the length of the key without its padding:
 * where the signature begins. Source: Microsoft security-utilities, "identifiable keys" (SEC101/152 to SEC101/245).
 */
const PLACES: ReadonlyMap<number, number> = new Map([
  [43, 33],
  [52, 42],
  [54, 44],
  [86, 76],
])
const SIGNATURES = new Set([
  'APIM',
  'ACDb',
  '+ABa',
  '+AMC',
  '+ASt',
  '+ARm',
  '+AEh',
  '+ASb',
  'AIoT',
  'AzCa',
  'AZEG',
  'AzFu',
  'AzSe',
  '+ACR',
])

/** Keys of all newer services: 84 characters, this behind the first 52. */
const COMMON = 'JQQJ9'
const COMMON_LENGTHS: ReadonlySet<number> = new Set([76, 80, 82, 84, 86])

const isKeyAt = (text: string, start: number, length: number): boolean => {
  const place = PLACES.get(length)
  if (place !== undefined && SIGNATURES.has(text.slice(start + place, start + place + 4))) return true
  return COMMON_LENGTHS.has(length) && text.startsWith(COMMON, start + 52)
}

/** A key of an Azure service that fills a whole run of base64, its padding left out, or all but a sign in front of it. */
export const azureKey = (text: string, start: number, end: number): Hit | undefined => {
  const length = end - start
  // RapidAPI; a licence of New Relic
  const isOther =
    (length === 50 && text.startsWith('msh', start + 10) && text.startsWith('jsn', start + 35)) ||
    (length === 40 && text.startsWith('NRAL', end - 4))
  if (isOther) return { start, end, kind: 'key' }
  if (length < 43 || length > 87) return undefined
  const from = isKeyAt(text, start, end - start) ? start : start + 1
  return isKeyAt(text, from, end - from) ? { start: from, end, kind: 'key' } : undefined
}
