import { lexSql, type PlainDialect, type Token } from './lex.ts'
import { type Asked, type Operation, Unclear } from './operation.ts'
import { isReadingPragma } from './pragma.ts'
import { refuseFiles } from './table-files.ts'

/** What a statement does by its first word. */
const LEADING: Readonly<Record<string, readonly Operation[]>> = {
  select: ['select'],
  values: ['select'],
  table: ['select'],
  with: [],
  explain: ['explain'],
  describe: ['explain'],
  desc: ['explain'],
  show: ['show'],
  insert: ['insert'],
  replace: ['insert', 'delete'],
  update: ['update'],
  delete: ['delete'],
  merge: ['merge'],
  create: ['create'],
  alter: ['alter'],
  rename: ['alter'],
  drop: ['drop'],
  truncate: ['truncate'],
  grant: ['grant'],
  revoke: ['grant'],
  begin: ['transaction'],
  start: ['transaction'],
  commit: ['transaction'],
  rollback: ['transaction'],
  savepoint: ['transaction'],
  release: ['transaction'],
  end: ['transaction'],
  set: ['set'],
  use: ['set'],
  call: ['call'],
  do: ['call'],
  copy: ['copy'],
}

/** What a word does wherever it stands: some databases need no `;` between statements, and queries can hold others. */
const ANYWHERE: Readonly<Record<string, readonly Operation[]>> = {
  select: ['select'],
  insert: ['insert'],
  update: ['update'],
  delete: ['delete'],
  merge: ['merge'],
  create: ['create'],
  alter: ['alter'],
  drop: ['drop'],
  truncate: [],
  grant: ['grant'],
  revoke: ['grant'],
  updlock: ['update'],
  xlock: ['update'],
  tablockx: ['update'],
  holdlock: ['update'],
  ...Object.fromEntries(
    `call exec execute outfile dumpfile procedure handler load attach detach pragma vacuum shutdown waitfor declare dbcc bulk backup restore
    reconfigure kill deny go print openrowset opendatasource lock unlock prepare deallocate install uninstall atomic loop while xp_cmdshell sp_executesql`
      .split(/\s+/)
      .map((word) => [word, ['other']]),
  ),
}

/** What T-SQL's own words do where a statement can begin without a `;` before it; elsewhere they are names like any other. */
const OPENING: Readonly<Record<string, readonly Operation[]>> = {
  use: ['set'],
  set: ['set'],
  begin: ['transaction'],
  commit: ['transaction'],
  rollback: ['transaction'],
  save: ['transaction'],
  ...Object.fromEntries(
    ['setuser', 'revert', 'checkpoint', 'writetext', 'updatetext', 'raiserror'].map((word) => [word, ['other']]),
  ),
}

/** Statements in which `set` belongs to the statement itself. */
const SETTING = /^(?:update|insert|replace|merge|alter|create)$/

/** Words that are no functions behind the one that is named here. */
const BEHIND: Readonly<Record<string, RegExp>> = {
  of: /^member$/,
  apply: /^(?:cross|outer)$/,
  system: /^tablesample$/,
  bernoulli: /^tablesample$/,
}

/** Words before a bracket that are no functions. */
const NO_FUNCTION = new Set(
  `all and any as between by case check constraint cross default distinct else except exists explain filter foreign from full group having in index
  inner insert intersect into is join key lateral left like limit materialized natural not null offset on or order outer over partition primary
  recursive references returning right select set some table then unique union update using values when where window with within
  int integer bigint smallint tinyint mediumint decimal numeric float double real bit varchar nvarchar nchar text varbinary binary blob datetime2
  timestamp analyze regexp rlike escape collate end match against rollup cube sets row top columns`.split(/\s+/),
)

const own = (record: Readonly<Record<string, readonly Operation[]>>, word: string): readonly Operation[] | undefined =>
  Object.hasOwn(record, word) ? record[word] : undefined

/** What a text asks of a database without a grammar of ours. Throws Unclear for what databases read differently. */
export const askedPlainly = (sql: string, dialect: PlainDialect): Asked => {
  const operations = new Set<Operation>()
  const functions = new Set<string>()
  const statements = splitStatements(lexSql(sql, dialect))
  for (const tokens of statements) {
    if (dialect === 'sqlite' && isReadingPragma(tokens)) {
      operations.add('show')
      continue
    }
    refuseFiles(tokens)
    for (const operation of operationsOf(tokens)) operations.add(operation)
    for (const name of functionsOf(tokens)) functions.add(name)
  }
  return { statements: statements.length, operations, functions }
}

const splitStatements = (tokens: readonly Token[]): readonly (readonly Token[])[] => {
  const statements: Token[][] = [[]]
  for (const token of tokens) {
    if (token.kind === 'mark' && token.text === ';') statements.push([])
    else statements.at(-1)?.push(token)
  }
  return statements.filter((statement) => statement.length > 0)
}

const operationsOf = (tokens: readonly Token[]): readonly Operation[] => {
  const start = tokens.find(({ kind, text }) => kind !== 'mark' || text !== '(')
  if (start?.kind !== 'word') throw new Unclear('does not begin with a word')
  const found: Operation[] = [...(own(LEADING, start.text) ?? ['other'])]
  tokens.forEach((token, index) => {
    if (token.kind === 'word') found.push(...inside(tokens, index, token.text))
  })
  return start.text === 'begin' && tokens.length > 3 ? [...found, 'other'] : found
}

const inside = (tokens: readonly Token[], index: number, word: string): readonly Operation[] => {
  if (word === 'into' && !/^(?:insert|replace|merge|ignore)$/.test(textAt(tokens, index - 1)))
    return ['create', 'other']
  if (isShown(tokens, index)) return []
  // a function or column of that name, unless it opens a statement of its own
  if (word === 'replace' && textAt(tokens, index + 1) !== '(') return ['insert', 'delete']
  if (word === 'truncate') return textAt(tokens, index + 1) === '(' ? [] : ['truncate']
  return textAt(tokens, index - 1) === '.' ? [] : ofWord(tokens, index, word)
}

const ofWord = (tokens: readonly Token[], index: number, word: string): readonly Operation[] => {
  if (word === 'share' && /^(?:for|key)$/.test(textAt(tokens, index - 1))) return ['update']
  return own(ANYWHERE, word) ?? (opensStatement(tokens, index, word) ? (own(OPENING, word) ?? []) : [])
}

const opensStatement = (tokens: readonly Token[], index: number, word: string): boolean => {
  const [first, before, next] = [textAt(tokens, 0), textAt(tokens, index - 1), textAt(tokens, index + 1)]
  if (!Object.hasOwn(OPENING, word) || !endsExpression(tokens[index - 1]) || /^(?:alter|create)$/.test(first))
    return false
  if (word === 'use') return next !== 'index' && next !== 'key'
  if (word === 'save') return /^tran(?:saction)?$/.test(next)
  return word !== 'set' || (before !== 'character' && !tokens.slice(0, index).some(isSetting))
}

/** A function may have the name of such a statement. */
const isSetting = ({ kind, text }: Token, index: number, tokens: readonly Token[]): boolean =>
  kind === 'word' && SETTING.test(text) && textAt(tokens, index + 1) !== '(' && textAt(tokens, index - 1) !== '.'

/** Whether nothing but an alias or the next clause can follow; a function call cannot. */
const endsExpression = (token: Token | undefined): boolean => {
  if (token === undefined) return false
  if (token.kind === 'mark') return token.text === ')'
  return token.kind !== 'word' || !NO_FUNCTION.has(token.text) || /^(?:null|end|rollup|cube)$/.test(token.text)
}

/** `show create table t` and `show procedure status` show what the words else do. */
const isShown = (tokens: readonly Token[], index: number): boolean => {
  if (textAt(tokens, 0) !== 'show' || index < 1 || index > 2) return false
  if (textAt(tokens, 1) === 'procedure') return textAt(tokens, 2) === 'status'
  // no more than a name follows: where no `;` parts statements, this may be one that creates
  const [, create, kind, ...name] = tokens
  const isName = name.length > 0 && name.length <= 3 && name.every(({ kind, text }) => kind !== 'mark' || text === '.')
  return create?.text === 'create' && SHOWN.has(kind?.text ?? '') && isName
}

const SHOWN = new Set(['table', 'view', 'procedure', 'function', 'trigger', 'event'])

const textAt = (tokens: readonly Token[], index: number): string => tokens[index]?.text ?? ''

/** Names before brackets, sequences that count on, and packages whose functions need no brackets; names of tables and of lists of columns are left out where the word before tells. */
const functionsOf = (tokens: readonly Token[]): readonly string[] =>
  tokens.flatMap((token, index) => {
    if (textAt(tokens, index + 1) === '(') return calledName(tokens, token, index)
    if (/^(?:dbms|utl)_/.test(token.text) && textAt(tokens, index + 1) === '.') return [token.text]
    return isNextValue(tokens, index) ? ['nextval'] : []
  })

/** `s.nextval` and `next value for s`. */
const isNextValue = (tokens: readonly Token[], index: number): boolean => {
  const [before, word, after] = [textAt(tokens, index - 1), textAt(tokens, index), textAt(tokens, index + 1)]
  return (word === 'nextval' && before === '.') || (before === 'next' && word === 'value' && after === 'for')
}

const calledName = (tokens: readonly Token[], { kind, text }: Token, index: number): readonly string[] => {
  if (kind !== 'word' && kind !== 'quoted') return []
  if (kind === 'word' && isNoFunction(tokens, index, text)) return []
  let first = index
  while (textAt(tokens, first - 1) === '.') first -= 2
  if (first < 0) throw new Unclear('begins with a dot')
  if (/^(?:into|table|references)$/.test(textAt(tokens, first - 1)) || isNewTable(tokens, first)) return []
  if (isWithColumns(tokens, first, index)) return []
  // a function that belongs to a type is none of those that are known
  const parts = tokens.slice(textAt(tokens, first - 1) === '::' ? first - 1 : first, index + 1)
  return [parts.map((part) => part.text).join('')]
}

const isNoFunction = (tokens: readonly Token[], index: number, word: string): boolean => {
  const before = textAt(tokens, index - 1)
  if (before === '.') return false
  // with a value it sets what it else reads
  if (word === 'last_insert_id') return textAt(tokens, index + 2) === ')'
  if (word === 'option' || word === 'tablesample') return endsExpression(tokens[index - 1])
  return NO_FUNCTION.has(word) || (Object.hasOwn(BEHIND, word) && BEHIND[word]?.test(before) === true)
}

/** `create table if not exists x (`, `create index i on x (` and `with x (…) as`. */
const isNewTable = (tokens: readonly Token[], at: number): boolean => {
  const [before, earlier] = [textAt(tokens, at - 1), textAt(tokens, at - 2)]
  if (before === 'exists') return earlier === 'not' && textAt(tokens, at - 3) === 'if'
  if (before === 'on') return textAt(tokens, 0) === 'create'
  return before === 'with' || before === 'recursive'
}

/** `… as x (a, b)` outside of definitions, and the second of `with x as (…), y (a, b) as (select …)`; behind a function that gives records stand columns. */
const isWithColumns = (tokens: readonly Token[], first: number, last: number): boolean => {
  const before = textAt(tokens, first - 1)
  if (before === 'as') return !/^(?:create|alter)$/.test(textAt(tokens, 0))
  if (before !== ',') return false
  // names alone, so that no bracket is looked for behind another
  let close = last + 2
  while (tokens[close] !== undefined && !/^[().;]$/.test(textAt(tokens, close))) close++
  const behind = [1, 2, 3, 4, 5].map((step) => textAt(tokens, close + step)).join(' ')
  return /^as (?:(?:not )?materialized )?\( (?:select|with)\b/.test(behind)
}
