const COMMENT = /--[^\n]*|#[^\n]*|\/\*.*?(?:\*\/|$)/
const DOUBLED = /(?:'(?:[^']|'')*'|"(?:[^"]|"")*")/
/** Texts that touch are one here, so that `'a''b'` is as long as it is with doubled quotes. */
const TRIPLE = /(?:'''.*?'''|""".*?"""|(?!'''|""")(?:'[^']*'|"[^"]*"))+/
const UNENDED = /['"]/

const either = (...patterns: readonly RegExp[]): RegExp =>
  new RegExp(patterns.map(({ source }) => source).join('|'), 'gs')

const DOUBLING = either(COMMENT, DOUBLED)
const TRIPLING = either(COMMENT, TRIPLE, UNENDED)

/**
 * Whether BigQuery ends texts elsewhere: it doubles no quotes, and three in a row start a text that only three end.
 * What leaves a text without an end is none of its statements, and so no other reading.
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
