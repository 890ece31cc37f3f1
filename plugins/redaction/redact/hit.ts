/** What a hidden part was. */
export type Kind = 'configured' | 'name' | 'key' | 'private-key' | 'token' | 'url' | 'card' | 'iban' | 'email'

/** A part of a text to hide: UTF-16 offsets, the end behind it. */
export interface Hit {
  readonly start: number
  readonly end: number
  readonly kind: Kind
}

/** What stands in place of a hidden part; `limit` and `fault` replace what could not be examined. */
export const mark = (kind: Kind | 'limit' | 'fault'): string => `[REDACTED:${kind}]`

const MARK = /^\[REDACTED:[a-z-]{3,12}\]$/

/** The text is exactly one mark. */
export const isMark = (text: string): boolean => text.charCodeAt(0) === 0x5b && text.length <= 24 && MARK.test(text)

/** A mark begins at `at`. */
export const marksAt = (text: string, at: number): boolean => text.startsWith('[REDACTED:', at)

/** `text` with every hit replaced by its mark; hits that overlap become one, of the kind that begins first. */
export const hide = (text: string, hits: readonly Hit[]): string => {
  const sorted = [...hits].sort((a, b) => a.start - b.start || b.end - a.end)
  let result = ''
  let from = 0
  let open: Hit | undefined
  for (const hit of sorted) {
    if (open !== undefined && hit.start < open.end) {
      open = { ...open, end: Math.max(open.end, hit.end) }
      continue
    }
    if (open !== undefined) {
      result += text.slice(from, open.start) + mark(open.kind)
      from = open.end
    }
    open = hit
  }
  return open === undefined ? text : result + text.slice(from, open.start) + mark(open.kind) + text.slice(open.end)
}
