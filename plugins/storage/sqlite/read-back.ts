import type { Database } from 'better-sqlite3'
import type { Driver, RowTokens } from 'guard-gateway/core'
import { wordsTable } from '../kysely/schema.ts'

/** Tables of the storage itself and of SQLite, and those that the full-text index consists of. */
const OWN = /^(?:guard|sqlite)_|__words(?:_(?:data|idx|docsize|config|content))?$/

/** What only copies read, on a read-only connection of its own: the names of all tables, and the tokens of rows. */
export const readBack = (file: string): Required<Pick<Driver, 'tokens' | 'storedTables'>> => ({
  async *tokens({ id }, after) {
    const db = await openReadonly(file)
    try {
      // the full-text index has no text: its vocabulary lists the rows of each token, and sorting turns that round
      db.exec(`create virtual table temp.vocabulary using fts5vocab(main, '${wordsTable(id)}', 'instance')`)
      const rows = db.prepare(
        `select doc as recorded, group_concat(term, ' ') as words from temp.vocabulary where doc > ? group by doc`,
      )
      for (const { recorded, words } of rows.iterate(after) as Iterable<{ recorded: number; words: string }>)
        yield { recorded, tokens: words.split(' ') } satisfies RowTokens
    } finally {
      db.close()
    }
  },
  async storedTables() {
    const db = await openReadonly(file)
    try {
      const names = db.prepare(`select name from sqlite_schema where type = 'table'`).pluck().all() as string[]
      return names.filter((name) => !OWN.test(name))
    } finally {
      db.close()
    }
  },
})

const openReadonly = async (file: string): Promise<Database> => {
  const { default: Sqlite } = await import('better-sqlite3')
  return new Sqlite(file, { readonly: true })
}
