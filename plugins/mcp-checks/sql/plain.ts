import { lexSql, type PlainDialect, type Token } from './lex.ts'
import { type Operation, type SqlUsage, Unclear } from './operation.ts'
import { functionsOf } from './plain-functions.ts'
import { operationsOf } from './plain-operations.ts'
import { isReadingPragma } from './pragma.ts'
import { refuseFiles } from './table-files.ts'

/** Reads a text for databases without a grammar here. Throws Unclear for SQL that databases parse differently. */
export const readPlainSql = (sql: string, dialect: PlainDialect): SqlUsage => {
  const operations = new Set<Operation>()
  const functions = new Set<string>()
  const statements = splitStatements(lexSql(sql, dialect))
  for (const tokens of statements) {
    if (dialect === 'sqlite' && isReadingPragma(tokens)) {
      operations.add('show')
      continue
    }
    refuseFiles(tokens)
    refuseSettings(tokens)
    for (const operation of operationsOf(tokens)) operations.add(operation)
    for (const name of functionsOf(tokens)) functions.add(name)
  }
  return { statements: statements.length, operations, functions, fields: new Set() }
}

/** ClickHouse queries can set their own options, including permissions. Throws Unclear. */
const refuseSettings = (tokens: readonly Token[]): void => {
  const sets = tokens.some(
    ({ kind, text }, at) =>
      kind === 'word' && text === 'settings' && tokens[at + 1]?.kind === 'word' && tokens[at + 2]?.text === '=',
  )
  if (sets) throw new Unclear('sets options of the database, which is not read')
}

const splitStatements = (tokens: readonly Token[]): readonly (readonly Token[])[] => {
  const statements: Token[][] = [[]]
  for (const token of tokens) {
    if (token.kind === 'mark' && token.text === ';') statements.push([])
    else statements.at(-1)?.push(token)
  }
  return statements.filter((statement) => statement.length > 0)
}
