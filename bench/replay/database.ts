import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite, { type Database } from 'better-sqlite3'
import type { Plugin } from 'guard-gateway/core'
import { programFile } from '../programs.ts'
import { fragmentOf } from './fragments.ts'
import { replayGateway } from './open.ts'

/** Runs that the gateway writes. All others are copies of their rows with new ids and times. */
const TEMPLATES = 200
/** Interval between two copies of a run: 200 runs, one every 26 seconds. */
const STEP_NS = 5_200_000_000_000n

/** A database file of `runs` runs with 25 rows each. It is created once and cached in the temporary folder. */
export const runsDatabase = async (runs: number, log: (line: string) => void): Promise<string> => {
  const file = join(tmpdir(), `guard-bench-replay-${runs}-${await schemaPrint()}.db`)
  if (existsSync(file)) return file
  log(`making ${file}: ${runs} runs, ${runs * 25} rows`)
  const unfinished = `${file}.${process.pid}`
  try {
    await writeTemplates(unfinished)
    multiply(unfinished, Math.ceil(runs / TEMPLATES) - 1)
    renameSync(unfinished, file)
  } finally {
    for (const end of ['', '-wal', '-shm', '.lock', '.lock-wal', '.lock-shm'])
      rmSync(`${unfinished}${end}`, { force: true })
  }
  return file
}

/** A hash of the tables and of the code that fills them. */
const schemaPrint = async (): Promise<string> => {
  const { tables } = replayGateway('')
  const hash = createHash('sha256').update(JSON.stringify([...tables]))
  for (const name of ['fragments', 'database']) hash.update(readFileSync(programFile(`bench/replay/${name}`)))
  return hash.digest('hex').slice(0, 12)
}

/** Writes the runs that are copied to a database file or another storage. Resolves to their number, and the interval between two copies of a run. */
export const writeTemplates = async (
  store: string | Plugin,
): Promise<{ readonly templates: number; readonly step_ns: bigint }> => {
  const gateway = await replayGateway(store).open()
  for (let number = 1; number <= TEMPLATES; number++) await gateway.keep([fragmentOf(number)])
  await gateway.close()
  return { templates: TEMPLATES, step_ns: STEP_NS }
}

const multiply = (file: string, copies: number): void => {
  const db = new Sqlite(file)
  db.pragma('synchronous = OFF')
  db.pragma('cache_size = -262144')
  try {
    // the words are stored only in the full-text index
    db.exec("create virtual table temp.vocabulary using fts5vocab('main', 'runs__words', 'instance')")
    db.exec(
      "create temp table words as select doc, group_concat(term, ' ') as text from (select distinct doc, term from temp.vocabulary) group by doc",
    )
    for (const table of ['runs', 'spans', 'events']) copyRows(db, table, copies)
    copyWords(db, copies)
    db.pragma('wal_checkpoint(TRUNCATE)')
  } finally {
    db.close()
  }
}

/** The SQL expression for a column of a copy. `@copy` is the number of the copy, `@later` its time offset. */
const changed: Readonly<Record<string, string>> = {
  trace_id: "printf('%08x', @copy) || substr(trace_id, 9)",
  session_id: "session_id || printf('%04x', @copy / 10)",
  start_ns: 'start_ns + @later',
  end_ns: 'end_ns + @later',
  time_ns: 'time_ns + @later',
  recorded_ns: 'recorded_ns + @later',
  updated_ns: 'updated_ns + @later',
  pinned: '(recorded + @copy) % 500 = 0',
}

const copyRows = (db: Database, table: string, copies: number): void => {
  const names = db.prepare('select name from pragma_table_info(?)').pluck().all(table) as string[]
  const columns = names.filter((name) => name !== 'recorded')
  const rows = Number(db.prepare(`select max(recorded) from ${table}`).pluck().get())
  const insert = db.prepare(
    `insert into ${table} (recorded, ${columns.join(', ')})
     select recorded + @copy * ${rows}, ${columns.map((name) => changed[name] ?? name).join(', ')}
     from ${table} where recorded <= ${rows} and @later >= 0 order by recorded`,
  )
  db.transaction(() => {
    for (let copy = 1; copy <= copies; copy++) insert.run({ copy: BigInt(copy), later: BigInt(copy) * STEP_NS })
  })()
}

const copyWords = (db: Database, copies: number): void => {
  const insert = db.prepare(
    `insert into runs__words (rowid, words)
     select runs.recorded, words.text || ' ' || runs.trace_id from words
     join runs on runs.recorded = words.doc + @copy * ${TEMPLATES} order by runs.recorded`,
  )
  db.transaction(() => {
    for (let copy = 1; copy <= copies; copy++) insert.run({ copy: BigInt(copy) })
  })()
}
