/** Blanks and ends of lines as JavaScript counts them, between square brackets. */
const BLANK = '\\t-\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff'
const NO_BLANK =
  '\\x00-\\x08\\x0e-\\x1f!-\\u009f\\u00a1-\\u167f\\u1681-\\u1fff\\u200b-\\u2027\\u202a-\\u202e\\u2030-\\u205e\\u2060-\\u2fff\\u3001-\\ufefe\\uff00-\\x{10ffff}'

const OUTSIDE: Readonly<Record<string, string>> = {
  '\\s': `[${BLANK}]`,
  '\\S': `[^${BLANK}]`,
  '.': '[^\\n\\r\\u2028\\u2029]',
}
const INSIDE: Readonly<Record<string, string>> = { '\\s': BLANK, '\\S': NO_BLANK, '\\b': '\\x08' }

/** General categories by the long names that other engines do not know. */
const CATEGORIES: Readonly<Record<string, string>> = {
  Letter: 'L',
  Uppercase_Letter: 'Lu',
  Lowercase_Letter: 'Ll',
  Mark: 'M',
  Number: 'N',
  Decimal_Number: 'Nd',
  Punctuation: 'P',
  Symbol: 'S',
  Separator: 'Z',
}

const PIECES = /\[((?:\\.|[^\]\\])*)\]|\\[pP]\{[^}]*\}|\\.|\./gsu
const IN_CLASS = /\\[sS]-?|\\[pP]\{[^}]*\}|\\./gsu

/** A pattern of JavaScript in which blanks, dots and properties of Unicode mean to the linear engine what they mean there. */
export const asLinear = (pattern: string): string =>
  pattern.replace(PIECES, (piece, inner?: string) =>
    inner === undefined ? meant(piece, OUTSIDE) : `[${inner.replace(IN_CLASS, ofClass)}]`,
  )

/** After a set a dash starts no range. */
const ofClass = (piece: string): string =>
  /^\\[sS]-$/.test(piece) ? `${meant(piece.slice(0, 2), INSIDE)}\\-` : meant(piece, INSIDE)

const meant = (piece: string, meanings: Readonly<Record<string, string>>): string =>
  Object.hasOwn(meanings, piece) ? (meanings[piece] ?? piece) : piece.replace(/(?<=^\\[pP]\{)[^}]*/, shortProperty)

const shortProperty = (property: string): string => {
  const value = property.replace(/^(?:Script|sc|Script_Extensions|scx|General_Category|gc)=/, '')
  return (Object.hasOwn(CATEGORIES, value) ? CATEGORIES[value] : undefined) ?? value
}
