import { type Storage, type StorageBackend, table } from 'guard-gateway/core'
import { createStore } from 'guard-gateway/plugins/store'

/** A row with a column of every kind. */
export interface ConformanceItem {
  group: string
  id: string
  name: string | null
  count: number | null
  total: bigint | null
  ratio: number | null
  done: boolean | null
  data: unknown
  words?: readonly string[]
}

declare module 'guard-gateway/core' {
  interface Tables {
    conformance_items: ConformanceItem
    conformance_notes: { id: string; text: string | null }
  }
}

/** The tables that the suite opens a backend with. */
export const conformanceTables = [
  table({
    id: 'conformance_items',
    key: ['group', 'id'],
    columns: {
      group: 'text',
      id: 'text',
      name: 'text',
      count: 'integer',
      total: 'int64',
      ratio: 'real',
      done: 'boolean',
      data: 'json',
      words: 'search',
    },
    indexes: [['group', 'recorded'], ['group', 'count'], ['total']],
    sparse: [['done']],
    unique: [['group', 'name']],
    repeated: ['count', 'ratio', 'done', 'data'],
  }),
  table({ id: 'conformance_notes', columns: { id: 'text', text: 'text' }, repeated: ['text'] }),
]

/** An item with every column null but those given. */
export const item = (group: string, id: string, rest: Partial<ConformanceItem> = {}): ConformanceItem => ({
  group,
  id,
  name: null,
  count: null,
  total: null,
  ratio: null,
  done: null,
  data: null,
  ...rest,
})

const plain = { text: (text: string) => text, value: <T>(value: T) => value, judgeId: () => 'plain' as const }

/** Opens a backend the way the gateway does, but without redaction. */
export const openPlain = async (
  backend: StorageBackend,
  fault: (error: unknown, where: string) => void = () => {},
): Promise<Storage> =>
  createStore(await backend.open(conformanceTables, { fault }), conformanceTables, { redact: plain })

/** What the tests of one backend share; `store` is there once they run. */
export interface Desk {
  readonly id: string
  readonly store: Storage
  put(group: string, id: string, rest?: Partial<ConformanceItem>): Promise<boolean>
  get(group: string, id: string): Promise<ConformanceItem | undefined>
}

/** The ids of the rows found, in one text. */
export const ids = (found: { readonly rows: readonly { readonly id: string }[] }): string =>
  found.rows.map((row) => row.id).join('')
