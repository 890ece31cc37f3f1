import type { Token } from './lex.ts'
import { Unclear } from './operation.ts'
import { isParameter } from './tokens.ts'

/** Functions that use `from` between their arguments. */
const PARTING = new Set(['extract', 'trim', 'substring', 'overlay', 'position'])

/** Clauses after the list of tables. In DuckDB `set` and `values` can be names there. */
const AFTER_ALIAS = new Set(
  `where group order having limit offset fetch window qualify union except intersect select returning for`.split(/\s+/),
)

/** Text that contains a path, a URL, a pattern or a file name. */
const FILE = /[/\\:*?]|\.\w+"?`?$/

/** DuckDB reads `data.csv` from a file, and Spark reads `csv.data`, with the format as schema. */
const FORMATS = /^(?:csv|json|parquet|avro|orc|text|binaryfile)$/
const ENDINGS = /^(?:csv|tsv|json|jsonl|ndjson|parquet|avro|xlsx|gz|zst|shp|gpkg|fgb|geojson)$/

/** Words before a table name. DuckDB also allows some of them in brackets. */
const NAMING = /^(?:join|table|only|describe|desc|summarize|show|pivot|unpivot)$/

/** SQLite tables with an effect without brackets: one reads any file, one reads an archive, one writes statistics. */
const ACTING = new Set(['fsdir', 'zipfile', 'pragma_optimize'])

interface Brackets {
  /** The brackets of a function that uses `from` between its arguments. */
  readonly parting: boolean
  inTables: boolean
}

/** Throws Unclear if a string or a quoted file name is used as a table: some databases read that file or fetch that URL. */
export const refuseFiles = (tokens: readonly Token[]): void => {
  const around: Brackets[] = []
  let here: Brackets = { parting: false, inTables: false }
  let expected = false
  for (const [index, token] of tokens.entries()) {
    if (expected || isAfterAlias(token, here)) refuseTable(nameAt(tokens, index))
    const before = tokens[index - 1]?.text ?? ''
    if (token.text === '(') {
      around.push(here)
      here = { parting: PARTING.has(before), inTables: expected }
    } else if (token.text === ')') here = around.pop() ?? here
    else expected = opensTable(token, before, here) || isIn(token, tokens[index + 1], here)
  }
}

/** No database has names with more parts. */
const MAX_PARTS = 8

/** The parts of a dotted name. */
const nameAt = (tokens: readonly Token[], first: number): readonly Token[] => {
  const parts = tokens.slice(first, first + 1)
  for (let dot = first + 1; tokens[dot]?.text === '.' && parts.length < MAX_PARTS; dot += 2)
    parts.push(...tokens.slice(dot + 1, dot + 2))
  return parts
}

const isFile = ({ kind, text }: Token): boolean => kind === 'string' || (kind === 'quoted' && FILE.test(text))

const refuseTable = (name: readonly Token[]): void => {
  const parts = name.map(({ text }) => text.replace(/[:"`]/g, '').toLowerCase())
  const [first = '', last = ''] = [parts[0], parts.at(-1)]
  if (name.some(isFile) || (name.length > 1 && (FORMATS.test(first) || ENDINGS.test(last))))
    throw new Unclear('names a table by text that some databases take for a file')
  if (ACTING.has(last)) throw new Unclear('names a table that acts when it is read')
}

/** DuckDB's `from x :t`. */
const isAfterAlias = ({ text }: Token, { inTables }: Brackets): boolean => inTables && isParameter(text)

/** SQLite's `x in t`, without brackets. */
const isIn = ({ kind, text }: Token, next: Token | undefined, { parting }: Brackets): boolean =>
  kind === 'word' && text === 'in' && next?.text !== '(' && !parting

const endsTables = (word: string, before: string): boolean =>
  word === 'values' ? before === '(' : AFTER_ALIAS.has(word) && before !== 'as'

/** True if a table name follows. Updates `here.inTables` at the start and end of the list of tables. */
const opensTable = ({ kind, text }: Token, before: string, here: Brackets): boolean => {
  if (kind === 'mark') return text === ',' && here.inTables
  if (kind !== 'word') return false
  if (endsTables(text, before)) here.inTables = false
  if (text === 'from' && before !== 'distinct' && !here.parting) here.inTables = true
  else return NAMING.test(text)
  return true
}
