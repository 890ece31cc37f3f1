/** Size of a policy that came as data. */
export interface DocumentSize {
  /** Keys and values; one more than `most` where there are more. */
  readonly count: number
  /** Something lies deeper than `max_depth`. */
  readonly tooDeep: boolean
  /** An integer was kept with every digit. */
  readonly bigints: boolean
}

/** Counts the parts of a value; stops after `most` parts, or below `max_depth`. */
export const documentSize = (value: unknown, most: number, max_depth: number): DocumentSize => {
  const found = { count: 0, tooDeep: false, bigints: false }
  const isOver = (part: unknown, depth: number): boolean => {
    if (++found.count > most) return true
    if (typeof part === 'bigint') found.bigints = true
    if (typeof part !== 'object' || part === null) return false
    if (depth > max_depth) found.tooDeep = true
    return found.tooDeep || (Array.isArray(part) ? part : Object.values(part)).some((inner) => isOver(inner, depth + 1))
  }
  isOver(value, 0)
  return found
}
