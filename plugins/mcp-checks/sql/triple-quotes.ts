const COMMENT = /--[^\n]*|#[^\n]*|\/\*.*?(?:\*\/|$)/
const DOUBLED = /(?:'(?:[^']|'')*'|"(?:[^"]|"")*")/
/** Adjacent strings form one match, so that `'a''b'` is as long as with doubled quotes. */
const TRIPLE = /(?:'''.*?'''|""".*?"""|(?!'''|""")(?:'[^']*'|"[^"]*"))+/
const UNENDED = /['"]/

const either = (...patterns: readonly RegExp[]): RegExp =>
  new RegExp(patterns.map(({ source }) => source).join('|'), 'gs')

const DOUBLING = either(COMMENT, DOUBLED)
const TRIPLING = either(COMMENT, TRIPLE, UNENDED)

/**
 * True if BigQuery would end strings at other positions. BigQuery has no doubled quotes, and three quotes start a
 * string that only three quotes end. A text with an unterminated string is invalid in BigQuery, so it has no second
 * reading.
 */
export const isReadInTriples = (sql: string): boolean => {
  if (!/'''|"""/.test(sql)) return false
  if (sql.includes('\\')) return true
  const texts: string[] = []
  for (const { 0: text, index } of sql.matchAll(TRIPLING)) {
    if (/^['"]$/.test(text)) return false
    texts.push(`${index} ${text.length}`)
  }
  return [...sql.matchAll(DOUBLING)].some(({ 0: text, index }, at) => texts[at] !== `${index} ${text.length}`)
}
