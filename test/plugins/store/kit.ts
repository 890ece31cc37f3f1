import type { Driver, Table, Tables } from 'guard-gateway/core'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { type CreateStoreOptions, createStore } from 'guard-gateway/plugins/store'

declare module 'guard-gateway/core' {
  interface Tables {
    store_papers: { id: string; title: string | null; kind: string | null; data: unknown; words?: readonly string[] }
    store_pairs: { first: string; second: string; note: string | null }
  }
}

export const papers: Table = {
  id: 'store_papers',
  columns: { id: 'text', title: 'text', kind: 'text', data: 'json', words: 'search' },
  exact: ['kind'],
}
export const pairs: Table = {
  id: 'store_pairs',
  key: ['first', 'second'],
  columns: { first: 'text', second: 'text', note: 'text' },
}

/** Hides every `secret`, and counts the json values it was shown. */
export const hiding = () => {
  const seen: unknown[] = []
  const text = (given: string) => given.replaceAll('secret', '[HIDDEN]')
  const value = <T>(given: T): T => {
    seen.push(given)
    return JSON.stringify(given).includes('secret') ? (JSON.parse(text(JSON.stringify(given))) as T) : given
  }
  return { seen, text, value, judgeId: () => 'plain' as const }
}

export const open = async (
  options: Partial<CreateStoreOptions> = {},
  change: (driver: Driver) => Driver = (driver) => driver,
) => {
  const driver = await memory().open([papers, pairs])
  const redact = hiding()
  return { redact, store: createStore(change(driver), [papers, pairs], { redact, ...options }) }
}
export const paper = (id: string, rest: Partial<Tables['store_papers']> = {}) => ({
  id,
  title: null,
  kind: null,
  data: null,
  ...rest,
})
