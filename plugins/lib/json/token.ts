export const QUOTE = 0x22
const BACKSLASH = 0x5c

export const isContainer = (unit: number): boolean => unit === 0x7b || unit === 0x5b
export const isClose = (unit: number): boolean => unit === 0x7d || unit === 0x5d

/** Behind the string that opens at `open`; if it is none, `~` the place where it stops being one. */
export const stringEnd = (text: string, open: number): number => {
  let at = open + 1
  for (;;) {
    let unit = text.charCodeAt(at)
    while (unit !== QUOTE && unit !== BACKSLASH && unit >= 0x20) unit = text.charCodeAt(++at)
    if (unit === QUOTE) return at + 1
    if (unit !== BACKSLASH) return ~at
    const next = escapeEnd(text, at + 1)
    if (next < 0) return ~at
    at = next
  }
}

/** What the string between these places says; both quotes are inside. */
export const stringBetween = (text: string, start: number, end: number): string => {
  const written = text.slice(start + 1, end - 1)
  return written.includes('\\') ? (JSON.parse(text.slice(start, end)) as string) : written
}

const ESCAPE = /["\\/bfnrt]|u[0-9a-fA-F]{4}/y

const escapeEnd = (text: string, at: number): number => {
  ESCAPE.lastIndex = at
  return ESCAPE.test(text) ? ESCAPE.lastIndex : -1
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y

/** The offset after the number that starts at `at`; -1 if it is none. */
export const numberEnd = (text: string, at: number): number => {
  NUMBER.lastIndex = at
  return NUMBER.test(text) ? NUMBER.lastIndex : -1
}

/** The offset after `true`, `false` or `null` at `at`; -1 if none is there. */
export const wordEnd = (text: string, at: number): number => {
  for (const word of ['true', 'false', 'null']) if (text.startsWith(word, at)) return at + word.length
  return -1
}
