import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Bench, refused, startReplay } from './kit.ts'

describe('an unknown parameter of a route is rejected with the known ones', () => {
  let bench: Bench
  before(async () => {
    bench = await startReplay()
    await bench.send('POST', '/api/v1/traces', { trace_id: 'one' })
  })
  after(() => bench.close())

  const routes = [
    ['runs/one/export?fromat=otel', ['format', 'names']],
    ['runs/one/rows?offset=3', ['after', 'limit', 'from', 'to']],
    ['stream?kinds=events', ['kind']],
  ] as const
  for (const [path, known] of routes)
    it(path, async () => {
      const error = refused(400, 'UNKNOWN_FILTER', await bench.send('GET', `/api/v1/${path}`))
      assert.deepEqual(error.known, known)
    })
})
