import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { stages } from 'guard-gateway/core'
import { aCall, aSession, settled } from '../../kit/settled.ts'
import { type Bench, present, startBench } from './kit.ts'

describe('recorder: a record that fails after the reply', () => {
  let bench: Bench
  let refuse: (() => void) | undefined
  beforeEach(async () => {
    refuse = undefined
    bench = await startBench()
    const { storage } = bench.gateway
    const { write } = storage
    // as a backend does that answers before it looks at the conditions
    storage.write = (batch, options) => {
      if (options?.onRefused === undefined || refuse !== undefined) return write.call(storage, batch, options)
      refuse = options.onRefused
      return Promise.resolve(true)
    }
  })
  afterEach(() => bench.close())

  it('is written again, with a session that was deleted', async () => {
    const session = aSession()
    session.stored = true
    await bench.settle(settled({ call: aCall({ session }) }))
    assert.equal(await bench.gateway.storage.get('calls', 'guardreq_1'), undefined)
    present(refuse)()
    const { hooks, storage } = bench.gateway
    const read = async () =>
      [await storage.get('calls', 'guardreq_1'), await storage.get('sessions', session.row.id)] as const
    const stored = new Promise<Awaited<ReturnType<typeof read>>>((resolve) =>
      hooks.close.tapPromise({ name: 'test', stage: stages.close.storage - 1 }, async () => resolve(await read())),
    )
    await hooks.close.promise()
    const [record, row] = await stored
    assert.deepEqual([present(record).session_id, present(row).id], [session.row.id, session.row.id])
    assert.deepEqual(bench.faults, [])
  })

  it('is reported if that fails as well', async () => {
    const { storage } = bench.gateway
    await bench.settle(settled())
    storage.write = () => Promise.reject(new Error('no more'))
    present(refuse)()
    await bench.gateway.hooks.close.promise()
    assert.deepEqual(
      bench.faults.map(({ error, where }) => [String(error), where]),
      [['Error: no more', 'recorder:late']],
    )
  })
})
