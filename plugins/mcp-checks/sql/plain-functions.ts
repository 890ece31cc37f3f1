import { actsAsField } from './field-functions.ts'
import type { Token } from './lex.ts'
import { Unclear } from './operation.ts'
import { endsExpression, isParameter, NO_FUNCTION, textAt } from './tokens.ts'

/** Words that are no function if the given word precedes them. */
const NO_FUNCTION_AFTER: Readonly<Record<string, RegExp>> = {
  of: /^member$/,
  apply: /^(?:cross|outer)$/,
  system: /^tablesample$/,
  bernoulli: /^tablesample$/,
}

/** Clauses after a table, a column or a call, which is no position for a function. */
const CLAUSES = new Set(['option', 'tablesample', 'sample', 'pivot', 'unpivot', 'keep', 'exclude', 'at'])

/**
 * Names before brackets, sequences that advance, and packages with functions that need no brackets. Omits names of
 * tables and column lists if the previous word identifies them.
 */
export const functionsOf = (tokens: readonly Token[]): readonly string[] =>
  tokens.flatMap((token, index) => {
    if (textAt(tokens, index + 1) === '(') return calledName(tokens, token, index)
    if (/^(?:dbms|utl)_/.test(token.text) && textAt(tokens, index + 1) === '.') return [token.text]
    if (textAt(tokens, index - 1) === '.' && actsAsField(bare(token.text))) return [bare(token.text)]
    if (isApplied(tokens, index)) return [token.text]
    return isNextValue(tokens, index) ? ['nextval'] : []
  })

const bare = (name: string): string => name.replace(/["`]/g, '').toLowerCase()

/** `next value for s`, and Db2's `nextval for s`. */
const isNextValue = (tokens: readonly Token[], index: number): boolean => {
  if (textAt(tokens, index + 1) !== 'for') return false
  const word = textAt(tokens, index)
  return word === 'nextval' || (word === 'value' && textAt(tokens, index - 1) === 'next')
}

/** ClickHouse's `* apply f`. */
const isApplied = (tokens: readonly Token[], index: number): boolean => {
  if (textAt(tokens, index - 1) !== 'apply' || NO_FUNCTION.has(textAt(tokens, index))) return false
  return textAt(tokens, index - 2) === ')' || isAllColumns(tokens, index - 2)
}

const calledName = (tokens: readonly Token[], { kind, text }: Token, index: number): readonly string[] => {
  // DuckDB and ClickHouse treat the name after a colon as a function after an alias or a branch
  if (isParameter(text)) return [text]
  if (kind !== 'word' && kind !== 'quoted') return []
  if (kind === 'word' && isNoFunction(tokens, index, text)) return []
  let first = index
  while (textAt(tokens, first - 1) === '.') first -= 2
  if (first < 0) throw new Unclear('begins with a dot')
  if (/^(?:into|table|references)$/.test(textAt(tokens, first - 1)) || isNewTable(tokens, first)) return []
  if (isWithColumns(tokens, first, index) || isOuterJoin(tokens, index + 1)) return []
  // functions of a type are never known ones
  const parts = tokens.slice(textAt(tokens, first - 1) === '::' ? first - 1 : first, index + 1)
  return [parts.map((part) => part.text).join('')]
}

const isNoFunction = (tokens: readonly Token[], index: number, word: string): boolean => {
  const before = textAt(tokens, index - 1)
  if (before === '.') return false
  // with an argument it sets the value
  if (word === 'last_insert_id') return textAt(tokens, index + 2) === ')'
  if (CLAUSES.has(word)) return endsExpression(tokens[index - 1]) || isAllColumns(tokens, index - 1)
  return (
    NO_FUNCTION.has(word) || (Object.hasOwn(NO_FUNCTION_AFTER, word) && NO_FUNCTION_AFTER[word]?.test(before) === true)
  )
}

/** A star that is no multiplication. */
const isAllColumns = (tokens: readonly Token[], star: number): boolean =>
  textAt(tokens, star) === '*' && /^(?:[.,]|select|distinct)$/.test(textAt(tokens, star - 1))

/** Oracle's outer join: `a.id = b.id (+)`. */
const isOuterJoin = (tokens: readonly Token[], open: number): boolean =>
  textAt(tokens, open + 1) === '+' && textAt(tokens, open + 2) === ')'

/** `create table if not exists x (` and `create index i on x (`. */
const isNewTable = (tokens: readonly Token[], at: number): boolean => {
  const [before, earlier] = [textAt(tokens, at - 1), textAt(tokens, at - 2)]
  if (before === 'exists') return earlier === 'not' && textAt(tokens, at - 3) === 'if'
  return before === 'on' && textAt(tokens, 0) === 'create'
}

/** `… as x (a, b)` outside of definitions, and both names in `with x (a) as (…), y (b) as (select …)`. A list of columns follows them. */
const isWithColumns = (tokens: readonly Token[], first: number, last: number): boolean => {
  const before = textAt(tokens, first - 1)
  if (before === 'as') return !/^(?:create|alter)$/.test(textAt(tokens, 0))
  if (before === ',') return /^\( (?:select|with)$/.test(queryAfter(tokens, last))
  return /^(?:with|recursive)$/.test(before) && queryAfter(tokens, last) !== ''
}

/** The first two tokens of the query of a common table expression. Empty for other names before brackets. */
const queryAfter = (tokens: readonly Token[], last: number): string => {
  // stops at any bracket, so that the search stays linear
  let close = last + 2
  while (tokens[close] !== undefined && !/^[().;]$/.test(textAt(tokens, close))) close++
  const next = [1, 2, 3, 4, 5].map((step) => textAt(tokens, close + step)).join(' ')
  return /^as (?:(?:not )?materialized )?(\( \S+)/.exec(next)?.[1] ?? ''
}
