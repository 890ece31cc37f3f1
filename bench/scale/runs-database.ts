import { postgres } from 'guard-gateway/plugins/storage/postgres'
import { writeTemplates } from '../replay/database.ts'
import { runSql } from './postgres.ts'

const quoted = (name: string): string => `"${name}"`

/** The SQL expression for a column of a copy, as in the database of the replay suite. */
const changed = (stepNs: bigint): Readonly<Record<string, string>> => {
  const later = `copy * ${stepNs}`
  return {
    trace_id: "lpad(to_hex(copy), 8, '0') || substr(trace_id, 9)",
    session_id: "session_id || lpad(to_hex(copy / 10), 4, '0')",
    ...Object.fromEntries(
      ['start_ns', 'end_ns', 'time_ns', 'recorded_ns', 'updated_ns'].map((name) => [name, `${name} + ${later}`]),
    ),
    pinned: '(recorded + copy) % 500 = 0',
  }
}

/** Fills a database as that of the replay suite: the gateway writes the first runs, SQL copies them. */
export const fillRuns = async (url: string, runs: number): Promise<void> => {
  const { templates, step_ns } = await writeTemplates(postgres({ url, synchronous_commit: 'off' }))
  const copies = Math.ceil(runs / templates) - 1
  for (const table of ['runs', 'spans', 'events']) await copyRows(url, table, copies, step_ns)
  await runSql(url, 'vacuum analyze')
}

const copyRows = async (url: string, table: string, copies: number, stepNs: bigint): Promise<void> => {
  const columns = await runSql(
    url,
    `select column_name as name, data_type as type from information_schema.columns
     where table_schema = 'public' and table_name = '${table}' and column_name <> 'recorded'`,
  )
  const [counted] = await runSql(url, `select max(recorded)::int as rows from ${quoted(table)}`)
  const rows = Number(counted?.rows)
  const expressions = changed(stepNs)
  const value = (name: string, type: unknown): string =>
    // each run can be found by its id
    type === 'tsvector' ? `${quoted(name)} || array_to_tsvector(array[${expressions.trace_id}])` : quoted(name)
  const names = columns.map(({ name }) => quoted(String(name)))
  const values = columns.map(({ name, type }) => expressions[String(name)] ?? value(String(name), type))
  await runSql(
    url,
    `insert into ${quoted(table)} (recorded, ${names.join(', ')})
     select recorded + copy * ${rows}, ${values.join(', ')} from ${quoted(table)}
     cross join generate_series(1::bigint, ${copies}) as copy where recorded <= ${rows} order by 1`,
    `select setval(pg_get_serial_sequence('${table}', 'recorded'), (select max(recorded) from ${quoted(table)}))`,
  )
}
