import type { Driver, RowTokens } from 'guard-gateway/core'
import { sql } from 'kysely'
import { plain, type Result, type Statement } from './connection/statement.ts'
import { compiled } from './sql/clauses.ts'
import { compiler } from './sql/compiler.ts'
import { unprepared } from './sql/statements.ts'
import { indexable } from './sql/tokens.ts'

const PAGE_ROWS = 1_000

/** What only copies read: the tokens of rows, and the names of all tables. */
export const readBack = (
  run: (statement: Statement) => Promise<Result>,
): Required<Pick<Driver, 'tokens' | 'storedTables' | 'keptTokens'>> => ({
  async *tokens({ id, columns }, after) {
    const column = Object.keys(columns).find((name) => columns[name] === 'search') ?? ''
    const page = compiled(
      compiler
        .selectFrom(id)
        .select(['recorded', sql`array_to_json(tsvector_to_array(${sql.ref(column)}))`.as('tokens')])
        .where(sql<boolean>`recorded > ${0}::bigint and ${sql.ref(column)} is not null`)
        .orderBy('recorded')
        .limit(sql.lit(PAGE_ROWS)),
    )
    let last = String(after)
    for (;;) {
      const { rows } = await run(unprepared(page, [last]))
      for (const [recorded, tokens] of rows)
        yield { recorded: Number(recorded), tokens: JSON.parse(tokens ?? '[]') } satisfies RowTokens
      if (rows.length < PAGE_ROWS) return
      last = rows.at(-1)?.[0] ?? last
    }
  },
  keptTokens: indexable,
  async storedTables() {
    const { rows } = await run(TABLES)
    return rows.map(([name]) => name ?? '')
  },
})

/** Those of the backend itself begin with `guard_`, those of other programs have no column `recorded`. */
const TABLES = plain(
  `select table_name from information_schema.columns
   where table_schema = current_schema() and column_name = 'recorded' and table_name not like 'guard\\_%'`,
)
