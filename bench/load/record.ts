import Database from 'better-sqlite3'

/** The records of a run in the database of a gateway. */
export interface Recorded {
  readonly requests: number
  /** Requests with an outcome other than success, by outcome. */
  readonly other: Readonly<Record<string, number>>
}

/** Counts the request records in the database of a stopped gateway. */
export const recordedIn = (file: string): Recorded => {
  const database = new Database(file, { readonly: true })
  try {
    const rows = database.prepare('SELECT outcome, count(*) AS count FROM calls GROUP BY outcome').all() as readonly {
      readonly outcome: string | null
      readonly count: number
    }[]
    const other = rows.filter(({ outcome }) => outcome !== 'ok').map(({ outcome, count }) => [outcome ?? 'none', count])
    return { requests: rows.reduce((sum, { count }) => sum + count, 0), other: Object.fromEntries(other) }
  } finally {
    database.close()
  }
}
