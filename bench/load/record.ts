import Database from 'better-sqlite3'

/** What a gateway's database says of a run. */
export interface Recorded {
  readonly requests: number
  /** Requests that ended otherwise than well, by outcome. */
  readonly other: Readonly<Record<string, number>>
}

/** Counts the requests on record in the database of a gateway that has ended. */
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
