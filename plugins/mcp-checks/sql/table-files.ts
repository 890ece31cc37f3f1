import type { Token } from './lex.ts'
import { Unclear } from './operation.ts'

/** In these brackets `from` parts arguments. */
const PARTING = new Set(['extract', 'trim', 'substring', 'overlay', 'position'])

/** Clauses behind the list of tables. */
const BEHIND = new Set(
  `where group order having limit offset fetch window qualify union except intersect select set values returning for`.split(
    /\s+/,
  ),
)

/** The text of a path, an address, a pattern or a file's name. */
const FILE = /[/\\:*?]|\.\w+"?`?$/

/** SQLite's tables that need no brackets to do something: one reads any file, one an archive, one writes statistics. */
const ACTING = new Set(['fsdir', 'zipfile', 'pragma_optimize'])

interface Brackets {
  /** Not a query: `from` parts arguments here. */
  readonly parting: boolean
  inTables: boolean
}

/** Throws Unclear where a string, or the name of a file in quotes, stands for a table: some databases read that file or fetch that address. */
export const refuseFiles = (tokens: readonly Token[]): void => {
  const around: Brackets[] = []
  let here: Brackets = { parting: false, inTables: false }
  let expected = false
  for (const [index, token] of tokens.entries()) {
    if (expected) refuseTable(token, tokens.slice(index + 1, index + 3))
    const before = tokens[index - 1]?.text ?? ''
    if (token.text === '(') {
      around.push(here)
      here = { parting: PARTING.has(before), inTables: expected }
    } else if (token.text === ')') here = around.pop() ?? here
    else expected = opensTable(token, before, here) || isIn(token, tokens[index + 1], here)
  }
}

const isFile = ({ kind, text }: Token): boolean => kind === 'string' || (kind === 'quoted' && FILE.test(text))

const refuseTable = (named: Token, [dot, behind]: readonly Token[]): void => {
  const name = dot?.text === '.' ? behind : named
  if (isFile(named) || (name !== undefined && isFile(name)))
    throw new Unclear('names a table by text that some databases take for a file')
  if (name !== undefined && ACTING.has(name.text.replace(/["`]/g, '').toLowerCase()))
    throw new Unclear('names a table that acts when it is read')
}

/** SQLite's `x in t`, without brackets. */
const isIn = ({ kind, text }: Token, next: Token | undefined, { parting }: Brackets): boolean =>
  kind === 'word' && text === 'in' && next?.text !== '(' && !parting

/** Whether a table is named next. Notes in `here` where the list of tables begins and ends. */
const opensTable = ({ kind, text }: Token, before: string, here: Brackets): boolean => {
  if (kind === 'mark') return text === ',' && here.inTables
  if (kind !== 'word') return false
  if (BEHIND.has(text)) here.inTables = false
  if (text === 'from' && before !== 'distinct' && !here.parting) here.inTables = true
  else return /^(?:join|table|describe|desc)$/.test(text)
  return true
}
