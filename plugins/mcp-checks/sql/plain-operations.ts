import type { Token } from './lex.ts'
import { type Operation, Unclear } from './operation.ts'
import { awaitsOperand, endsExpression, textAt } from './tokens.ts'

type Words = Readonly<Record<string, readonly Operation[]>>

const others = (words: string): Words =>
  Object.fromEntries(words.split(/\s+/).map((word) => [word, ['other'] as const]))

/** Operations of a statement by its first word. */
const LEADING: Words = {
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

/** Operations of a word at any position. Some databases need no `;` between statements, and queries can contain others. */
const ANYWHERE: Words = {
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
  ...others('outfile dumpfile go'),
}

/** The same for words that are names if an operand must follow. */
const UNLESS_OPERAND: Words = others(
  `call exec execute procedure handler load attach detach pragma vacuum shutdown waitfor declare dbcc bulk backup restore reconfigure kill deny
  print openrowset opendatasource lock unlock prepare deallocate install uninstall atomic loop while xp_cmdshell sp_executesql`,
)

/** Operations of T-SQL words at the start of a statement without `;`. At other positions they are ordinary names. */
const OPENING: Words = {
  use: ['set'],
  set: ['set'],
  begin: ['transaction'],
  commit: ['transaction'],
  rollback: ['transaction'],
  save: ['transaction'],
  rename: ['alter'],
  ...others(
    `setuser revert checkpoint readtext writetext updatetext raiserror throw receive disable enable send end move get add open dump transfer`,
  ),
}

/** Words that open a statement only together with the next word. */
const NEXT: Readonly<Record<string, RegExp>> = {
  use: /^(?!(?:index|key)$)/,
  save: /^tran(?:saction)?$/,
  disable: /^trigger$/,
  enable: /^trigger$/,
  send: /^on$/,
  end: /^conversation$/,
  move: /^conversation$/,
  get: /^conversation$/,
  add: /^(?:counter|signature|sensitivity)$/,
  rename: /^(?:object|database)$/,
  open: /^(?:symmetric|master)$/,
  dump: /^(?:database|tran(?:saction)?)$/,
  transfer: /^table$/,
}

/** Statements with a `set` clause of their own. */
const SETTING = /^(?:update|insert|replace|merge|alter|create)$/

const own = <Value>(record: Readonly<Record<string, Value>>, word: string): Value | undefined =>
  Object.hasOwn(record, word) ? record[word] : undefined

/** Operations of one statement, by its first word and by other active words in it. Throws Unclear. */
export const operationsOf = (tokens: readonly Token[]): readonly Operation[] => {
  const start = tokens.find(({ kind, text }) => kind !== 'mark' || text !== '(')
  if (start?.kind !== 'word') throw new Unclear('does not begin with a word')
  const found: Operation[] = [...(own(LEADING, start.text) ?? ['other'])]
  const setting = tokens.findIndex(isSetting)
  tokens.forEach((token, index) => {
    if (token.kind !== 'word') return
    const isPart = token.text === 'set' && setting >= 0 && setting < index
    if (!isPart) found.push(...inside(tokens, index, token.text))
  })
  return start.text === 'begin' && tokens.length > 3 ? [...found, 'other'] : found
}

const inside = (tokens: readonly Token[], index: number, word: string): readonly Operation[] => {
  if (word === 'into' && !/^(?:insert|replace|merge|ignore)$/.test(textAt(tokens, index - 1)))
    return ['create', 'other']
  if (word === 'using' && isProgram(tokens, index + 1)) return ['other']
  if (isShowCreate(tokens, index)) return []
  // a function or column has this name, unless a statement starts here
  if (word === 'replace' && textAt(tokens, index + 1) !== '(') return ['insert', 'delete']
  if (word === 'truncate') return textAt(tokens, index + 1) === '(' ? [] : ['truncate']
  return textAt(tokens, index - 1) === '.' ? [] : ofWord(tokens, index, word)
}

/** Hive's `map a using 'sh'`. A quoted name can be the table of a merge or delete. */
const isProgram = (tokens: readonly Token[], index: number): boolean => {
  const kind = tokens[index]?.kind
  return kind === 'string' || (kind === 'quoted' && !/^(?:merge|delete)$/.test(textAt(tokens, 0)))
}

const ofWord = (tokens: readonly Token[], index: number, word: string): readonly Operation[] => {
  if (word === 'share' && /^(?:for|key)$/.test(textAt(tokens, index - 1))) return ['update']
  const acting = own(UNLESS_OPERAND, word)
  if (acting !== undefined) return awaitsOperand(tokens[index - 1]) ? [] : acting
  return own(ANYWHERE, word) ?? (opensStatement(tokens, index, word) ? (own(OPENING, word) ?? []) : [])
}

const opensStatement = (tokens: readonly Token[], index: number, word: string): boolean => {
  const [first, before, next] = [textAt(tokens, 0), textAt(tokens, index - 1), textAt(tokens, index + 1)]
  if (!Object.hasOwn(OPENING, word) || !endsExpression(tokens[index - 1]) || /^(?:alter|create)$/.test(first))
    return false
  if (own(NEXT, word)?.test(next) === false) return false
  return word !== 'set' || before !== 'character'
}

/** Excludes functions and fields with the name of such a statement. */
const isSetting = ({ kind, text }: Token, index: number, tokens: readonly Token[]): boolean =>
  kind === 'word' && SETTING.test(text) && textAt(tokens, index + 1) !== '(' && textAt(tokens, index - 1) !== '.'

/** `show create table t` and `show procedure status` only display, despite their words. */
const isShowCreate = (tokens: readonly Token[], index: number): boolean => {
  if (textAt(tokens, 0) !== 'show' || index < 1 || index > 2) return false
  if (textAt(tokens, 1) === 'procedure') return textAt(tokens, 2) === 'status'
  // only a name may follow; otherwise a create statement could start here without `;`
  const [, create, kind, ...name] = tokens
  const isName = name.length > 0 && name.length <= 3 && name.every(({ kind, text }) => kind !== 'mark' || text === '.')
  return create?.text === 'create' && SHOW_CREATE_KINDS.has(kind?.text ?? '') && isName
}

const SHOW_CREATE_KINDS = new Set(['table', 'view', 'procedure', 'function', 'trigger', 'event'])
