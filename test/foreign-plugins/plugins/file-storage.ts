import { readFileSync, writeFileSync } from 'node:fs'
import { type Driver, type DriverChange, storage, type Table } from 'guard-gateway/core'
import { readJson, Type, writeJson } from 'guard-gateway/lib/json'
import { configurable } from 'guard-gateway/lib/plugin-options'
import { memory } from 'guard-gateway/plugins/storage/memory'

const schema = Type.Object({
  file: Type.String({ minLength: 1 }),
  indent: Type.Integer({ minimum: 0, maximum: 8, default: 0 }),
})

/** Memory that is written to a file when it is closed; the file is an option. */
export const fileStorage = configurable(schema, ({ file }) =>
  storage({
    id: 'one_file',
    open: async (tables) => {
      const rows = await memory().open(tables)
      await rows.write(read(file, tables), { sync: false, hold: false })
      return { ...rows, close: () => save(rows, tables, file) }
    },
  }),
)

const read = (file: string, tables: readonly Table[]): DriverChange[] => {
  const stored = readJson(textOf(file)) as Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>
  return tables.flatMap((table) =>
    (stored[table.id] ?? []).map((row): DriverChange => {
      const values = Object.entries(row).map(([name, value]) => [
        name,
        table.columns[name] === 'int64' && value !== null ? BigInt(value as number) : value,
      ])
      return { kind: 'put', table, row: Object.fromEntries(values) } as unknown as DriverChange
    }),
  )
}

const textOf = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return '{}'
  }
}

const save = async (rows: Driver, tables: readonly Table[], file: string): Promise<void> => {
  const all: Record<string, unknown> = {}
  for (const table of tables) {
    const found = await rows.find(table, {
      where: {},
      limit: 10_000,
      order: ['recorded', 'asc'],
      search: [],
      after: null,
    } as never)
    all[table.id] = found.rows
  }
  writeFileSync(file, writeJson(all))
  await rows.close()
}
