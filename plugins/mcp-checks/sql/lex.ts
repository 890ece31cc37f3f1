import { quoted } from 'guard-gateway/lib/text'
import { Unclear } from './operation.ts'

/** A token that every database recognises alike. */
export interface Token {
  readonly kind: 'word' | 'quoted' | 'number' | 'string' | 'mark'
  /** Words are in lower case. */
  readonly text: string
}

export type PlainDialect = 'mysql' | 'sqlite' | 'generic'

const BLANKS = /[ \t\n]+/y
/** MySQL requires a blank after the dashes. Spark continues the comment after a backslash at the end of the line. */
const LINE_COMMENT = /--(?:[ \t](?:[^\n]*[^\n\\])?)?(?:\n|$)/y
/** Excludes executable comments of MySQL, MariaDB and TiDB, hints of Oracle, and nested comments, which only some databases allow. */
const BLOCK_COMMENT = /\/\*(?!\+|\w?!)((?:(?!\/\*|\*\/).)*)\*\//sy
/** Excludes modifier letters, because some drivers turn one of them into a quote. */
const WORD = /[\p{Lu}\p{Ll}\p{Lo}_][\p{Lu}\p{Ll}\p{Lo}\p{M}\p{N}_]*/uy
const NUMBER = /(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\p{L}\p{M}\p{N}_$])/uy
const STRING = /'(?:[^'\\]|'')*'/y
const QUOTED = /"(?:[^"\\]|"")*"/y
const BACKQUOTED = /`[^`\\\n]+`/y
const PARAMETER = /\?|:[A-Za-z_][A-Za-z0-9_]*|\$[0-9]+(?![\p{L}\p{M}\p{N}_$])/uy
/** Excludes `&` before a quote, which belongs to escapes, and `//`, which is a comment in Snowflake and H2 but a division in DuckDB. */
const MARK = /::|<=>|<>|<<|>>|<=|>=|!=|\|\||->>|->|&(?!['"])|\/(?!\/)|[=<>+\-*%|~^(),.;]/y

const matched = (pattern: RegExp, text: string, at: number): string | undefined => {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}

const KINDS: readonly (readonly [RegExp, Token['kind']])[] = [
  [WORD, 'word'],
  [NUMBER, 'number'],
  [STRING, 'string'],
  [QUOTED, 'quoted'],
  [PARAMETER, 'number'],
  [MARK, 'mark'],
]

/** Splits SQL into tokens. Throws Unclear for text that databases split differently. */
export const lexSql = (sql: string, dialect: PlainDialect): readonly Token[] => {
  if (dialect === 'generic' && isReadInTriples(sql))
    throw new Unclear('holds three quotes in a row, which not every database reads alike')
  const tokens: Token[] = []
  for (let at = 0; at < sql.length; ) {
    const skipped = matched(BLANKS, sql, at) ?? matched(LINE_COMMENT, sql, at) ?? matched(BLOCK_COMMENT, sql, at)
    if (skipped !== undefined) {
      at += skipped.length
      continue
    }
    const token = tokenAt(sql, at, dialect)
    checkNeighbour(sql, at + token.length, token.kind)
    tokens.push({ kind: token.kind, text: token.kind === 'word' ? token.text.toLowerCase() : token.text })
    at += token.length
  }
  return tokens
}

/** Longer than names in any database. Limits the cost of normalisation. */
const MAX_WORD = 512

/** Characters that become a quote or backslash after normalisation or in another code page. */
const HIDDEN_QUOTE = /[\u1fef\ufe68\uff02\uff07\uff3c\uff40]/

/** True if normalisation does not change a token. */
const isPlain = (kind: Token['kind'], text: string): boolean => {
  if (kind === 'string' || kind === 'quoted') return !HIDDEN_QUOTE.test(text)
  return kind !== 'word' || (text.length <= MAX_WORD && text.normalize('NFKC') === text)
}

const tokenAt = (sql: string, at: number, dialect: PlainDialect): Token & { readonly length: number } => {
  if (/^(?:--|\/\*)/.test(sql.slice(at, at + 2)))
    throw new Unclear(`holds the comment ${excerpt(sql, at)}, which not every database reads alike`)
  for (const [pattern, kind] of KINDS) {
    const text = matched(pattern, sql, at)
    if (text !== undefined && isPlain(kind, text)) return { kind, text, length: text.length }
  }
  const quoted = dialect === 'generic' ? undefined : matched(BACKQUOTED, sql, at)
  if (quoted !== undefined) return { kind: 'quoted', text: quoted, length: quoted.length }
  throw new Unclear(`holds ${excerpt(sql, at)}, which not every database reads alike`)
}

/** A word before a quote is a prefix that changes the quoting. Two adjacent quotes are an escaped quote. */
const checkNeighbour = (sql: string, end: number, kind: Token['kind']): void => {
  const next = sql[end] ?? ''
  const touches = kind === 'word' || kind === 'number' ? /['"`$]/ : /['"`\p{L}\p{M}\p{N}_$]/u
  if (kind !== 'mark' && touches.test(next))
    throw new Unclear(`holds ${excerpt(sql, end - 1)}, quotes which not every database reads alike`)
}

const EXCERPT = 20

/** A short excerpt and its position, for the message. */
const excerpt = (sql: string, at: number): string => `${quoted(sql.slice(at), EXCERPT)} at character ${at + 1}`

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
const isReadInTriples = (sql: string): boolean => {
  if (!/'''|"""/.test(sql)) return false
  if (sql.includes('\\')) return true
  const texts: string[] = []
  for (const { 0: text, index } of sql.matchAll(TRIPLING)) {
    if (/^['"]$/.test(text)) return false
    texts.push(`${index} ${text.length}`)
  }
  return [...sql.matchAll(DOUBLING)].some(({ 0: text, index }, at) => texts[at] !== `${index} ${text.length}`)
}
