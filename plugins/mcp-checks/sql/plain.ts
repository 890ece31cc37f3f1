import { lexSql, type PlainDialect, type Token } from './lex.ts'
import type { Asked, Operation } from './operation.ts'
import { functionsOf } from './plain-functions.ts'
import { operationsOf } from './plain-operations.ts'
import { isReadingPragma } from './pragma.ts'
import { refuseFiles } from './table-files.ts'

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
  return { statements: statements.length, operations, functions, fields: new Set() }
}

const splitStatements = (tokens: readonly Token[]): readonly (readonly Token[])[] => {
  const statements: Token[][] = [[]]
  for (const token of tokens) {
    if (token.kind === 'mark' && token.text === ';') statements.push([])
    else statements.at(-1)?.push(token)
  }
  return statements.filter((statement) => statement.length > 0)
}
