import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Plugin } from 'guard-gateway/core'
import { metrics } from 'guard-gateway/plugins/metrics'
import { start } from './kit.ts'

const noted = (notes: readonly string[], journal_bytes: number): Plugin => ({
  name: 'noted',
  apply: (gateway) =>
    gateway.hooks.open.tap('noted', () => {
      Object.defineProperties(gateway.storage, { notes: { value: notes }, journal_bytes: { value: journal_bytes } })
    }),
})

const answers = async (notes: readonly string[], journal_bytes: number) => {
  await using running = await start({ plugins: [noted(notes, journal_bytes), metrics()] })
  const get = (path: string) => fetch(`http://127.0.0.1:${running.port}${path}`)
  const { status, storage } = (await (await get('/api/health')).json()) as Record<string, unknown>
  return { status, storage, metrics: await (await get('/metrics')).text() }
}

describe('the health of a storage', () => {
  it('is degraded while there is something to know, in words, and says how long the journal is', async () => {
    const told = await answers(['History was removed.'], 5_000)
    assert.equal(told.status, 'degraded')
    assert.deepEqual(told.storage, { status: 'ok', journal_bytes: 5_000, notes: ['History was removed.'] })
    assert.match(told.metrics, /^guard_storage_journal_bytes 5000$/m)
  })
  it('is that of its state where there is nothing', async () => {
    const told = await answers([], 0)
    assert.equal(told.status, 'ok')
    assert.deepEqual(told.storage, { status: 'ok', journal_bytes: 0 })
  })
})
