export { MemoryBudget } from './memory-budget/budget.ts'

export type { MemoryPart, PartOptions } from './memory-budget/part.ts'

const OBJECT_BYTES = 56
const VALUE_BYTES = 8
const MAX_DEPTH = 8

/** What a value of plain data, maps and typed arrays takes, about; what it holds twice counts twice. */
export const estimatedBytes = (value: unknown, depth = 0): number => {
  if (typeof value === 'string') return VALUE_BYTES + value.length
  if (typeof value !== 'object' || value === null) return VALUE_BYTES
  if (ArrayBuffer.isView(value)) return OBJECT_BYTES + value.byteLength
  if (depth === MAX_DEPTH) return OBJECT_BYTES
  let bytes = OBJECT_BYTES
  for (const part of partsOf(value)) bytes += VALUE_BYTES + estimatedBytes(part, depth + 1)
  return bytes
}

const partsOf = (value: object): Iterable<unknown> => {
  if (Array.isArray(value) || value instanceof Set) return value
  return value instanceof Map ? [...value.keys(), ...value.values()] : Object.values(value)
}
