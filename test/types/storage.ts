// Compiled, never run: what the typed face of storage accepts and refuses.
import { type Storage, table } from 'guard-gateway/core'

declare module 'guard-gateway/core' {
  interface Tables {
    typed_things: {
      id: string
      size: number | null
      total: bigint
      open: boolean
      data: { x: number }
      words?: readonly string[]
    }
  }
}

const columns = { id: 'text', size: 'integer', total: 'int64', open: 'boolean', data: 'json', words: 'search' } as const

export const right = table({ id: 'typed_things', columns, indexes: [['size', 'recorded']], exact: ['id'] })

// @ts-expect-error columns are forgotten
export const forgotten = table({ id: 'typed_things', columns: { id: 'text', size: 'integer' } })
// @ts-expect-error the type of a column does not fit the row
export const mistyped = table({ id: 'typed_things', columns: { ...columns, total: 'integer' } })
// @ts-expect-error an index over no column
export const unindexed = table({ id: 'typed_things', columns, indexes: [['sise']] })
// @ts-expect-error a table without row type
export const unknown = table({ id: 'untyped_things', columns: {} })

export const uses = async (storage: Storage): Promise<void> => {
  const row = await storage.get('typed_things', 'a')
  const size: number | null | undefined = row?.size
  await storage.put('typed_things', {
    id: 'a',
    size: size ?? null,
    total: 1n,
    open: true,
    data: { x: 1 },
    words: ['a'],
  })
  await storage.patch('typed_things', 'a', { size: 2 }, { size: 1, total: { gte: 1n } })
  await storage.write(
    [
      { table: 'typed_things', key: 'a', patch: { open: false }, sync: true },
      { table: 'typed_things', key: 'b', remove: true },
    ],
    { hold: true },
  )
  await storage.find('typed_things', { where: { size: { in: [1, 2] } }, order: ['total', 'desc'] })
  // @ts-expect-error no such table
  await storage.get('no_things', 'a')
  // @ts-expect-error a field is forgotten
  await storage.put('typed_things', { id: 'a', size: 1, total: 1n, open: true })
  // @ts-expect-error no such column
  await storage.patch('typed_things', 'a', { sise: 2 })
  // @ts-expect-error json columns cannot be tested
  await storage.find('typed_things', { where: { data: { x: 1 } } })
  // @ts-expect-error no such order column
  await storage.find('typed_things', { order: ['sise', 'asc'] })
}
