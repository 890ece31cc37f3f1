import type { Token } from './lex.ts'

/** The text of a token. Empty if there is none. */
export const textAt = (tokens: readonly Token[], index: number): string => tokens[index]?.text ?? ''

/** True for `:name`. */
export const isParameter = (text: string): boolean => /^:\w/.test(text)

/** Words before a bracket that are no functions. */
export const NO_FUNCTION = new Set(
  `all and any as between by case check constraint cross default distinct else except exists explain filter foreign from full group having in index
  inner insert intersect into is join key lateral left like limit materialized natural not null offset on or order outer over partition primary
  recursive references returning right select set some table then unique union update using values when where window with within
  int integer bigint smallint tinyint mediumint decimal numeric float double real bit varchar nvarchar nchar text varbinary binary blob datetime2
  timestamp analyze regexp rlike escape collate end match against rollup cube sets row top columns`.split(/\s+/),
)

/** True if only an alias or the next clause can follow, but no function call. */
export const endsExpression = (token: Token | undefined): boolean => {
  if (token === undefined) return false
  if (token.kind === 'mark') return token.text === ')'
  return token.kind !== 'word' || !NO_FUNCTION.has(token.text) || /^(?:null|end|rollup|cube)$/.test(token.text)
}

/** Excludes `*`, which can mean all columns, and words after which some databases start a statement. */
const BEFORE_OPERAND = /^(?:[,(=<>+/]|<=|>=|<>|!=|select|distinct|where|and|or|not|by|having|when|case|between)$/

/** True if an operand must follow, so that no statement can start. */
export const awaitsOperand = (token: Token | undefined): boolean =>
  token !== undefined && /^(?:mark|word)$/.test(token.kind) && BEFORE_OPERAND.test(token.text)
