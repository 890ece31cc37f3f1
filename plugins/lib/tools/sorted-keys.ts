import type { ToolCall, Turn } from 'guard-gateway/core'

/** Up to so many are looked through one by one. */
const FEW = 8

/** The call of this key in a turn. */
export const callOf = ({ calls }: Turn, key: string): ToolCall | undefined => {
  if (calls.length > FEW) return withKey(calls, key)
  for (const call of calls) if (call.key === key) return call
}

/** Whether a key is among the keys of a row. */
export const hasKey = (keys: readonly string[], key: string): boolean =>
  keys.length > FEW ? keys[placeOf(keys, key, itself)] === key : keys.includes(key)

const withKey = (calls: readonly ToolCall[], key: string): ToolCall | undefined => {
  const call = calls[placeOf(calls, key, keyOf)]
  return call?.key === key ? call : undefined
}

const keyOf = (call: ToolCall): string => call.key
const itself = (key: string): string => key

/** Place of the first that is not before `key`. A turn may hold as many calls as fit into a body, and each is looked for in others. */
const placeOf = <T>(sorted: readonly T[], key: string, keyOf: (item: T) => string): number => {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    const item = sorted[middle]
    if (item !== undefined && keyOf(item) < key) low = middle + 1
    else high = middle
  }
  return low
}
