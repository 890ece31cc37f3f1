import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AnyRow, Driver, Table } from 'guard-gateway/core'
import { createStore } from 'guard-gateway/plugins/store'
import { KeyedQueue } from '../../../plugins/lib/keyed-queue.ts'

import { hiding, open, paper } from './kit.ts'

describe('store: redaction of every write', () => {
  it('hides secrets in text, json and tokens on each way in', async () => {
    const { store } = await open()
    await store.put(
      'store_papers',
      paper('a', { title: 'a secret', data: { deep: ['secret'] }, words: ['plain', 'secret'] }),
    )
    assert.deepEqual(
      await store.get('store_papers', 'a'),
      paper('a', { title: 'a [HIDDEN]', data: { deep: ['[HIDDEN]'] } }),
    )
    assert.equal((await store.find('store_papers', { search: ['plain'] })).rows.length, 1)
    assert.equal((await store.find('store_papers', { search: ['secret'] })).rows.length, 0)
    await store.patch('store_papers', 'a', { title: 'secret two' })
    assert.equal((await store.get('store_papers', 'a'))?.title, '[HIDDEN] two')
    await store.exclusive('store_papers', 'a', async () => [
      0,
      [{ table: 'store_papers', key: 'a', patch: { title: 'secret three' } }],
    ])
    assert.equal((await store.get('store_papers', 'a'))?.title, '[HIDDEN] three')
  })

  it('skips columns that are declared exact and json that was cleaned before', async () => {
    const cleaned = new WeakSet<object>()
    const { store, redact } = await open({ cleaned })
    const data = { note: 'a secret that another door has judged' }
    cleaned.add(data)
    await store.put('store_papers', paper('a', { kind: 'secret', data }))
    assert.deepEqual(await store.get('store_papers', 'a'), paper('a', { kind: 'secret', data }))
    assert.deepEqual(redact.seen, [])
  })

  it('finds a row by the key it was put with', async () => {
    const { store } = await open()
    await store.put('store_pairs', { first: 'secret', second: 'b', note: null })
    assert.equal((await store.get('store_pairs', ['secret', 'b']))?.first, '[HIDDEN]')
    assert.equal(await store.patch('store_pairs', ['secret', 'b'], { note: 'x' }), true)
  })

  it('leaves the row it was given as it is', async () => {
    const { store } = await open()
    const row = Object.freeze(paper('a', { title: 'secret' }))
    await store.put('store_papers', row)
    assert.equal(row.title, 'secret')
  })
})

describe('store: names and keys', () => {
  const loosely = (row: AnyRow): never => row as never

  it('refuses tables and columns that were not declared', async () => {
    const { store } = await open()
    const name = 'nothing' as 'store_papers'
    await assert.rejects(store.get(name, 'a'), {
      code: 'UNKNOWN',
      message: 'There is no table "nothing"; there is store_papers, store_pairs.',
    })
    const unknown = { code: 'UNKNOWN_COLUMN', message: 'Table "store_papers" has no column "colour".' }
    await assert.rejects(store.put('store_papers', loosely({ ...paper('a'), colour: 1 })), unknown)
    await assert.rejects(store.patch('store_papers', 'a', loosely({ colour: 1 })), unknown)
    await assert.rejects(store.patch('store_papers', 'a', {}, loosely({ colour: 1 })), unknown)
    await assert.rejects(store.find('store_papers', { where: loosely({ colour: 1 }) }), unknown)
    await assert.rejects(store.find('store_papers', { order: loosely(['colour', 'asc'] as never) }), unknown)
    await assert.rejects(store.remove('store_papers', loosely({ colour: 1 }), 1), unknown)
    assert.equal(await store.get('store_papers', 'a'), undefined)
  })

  it('refuses keys of another form, rows without key and patches of the key', async () => {
    const { store } = await open()
    await assert.rejects(store.get('store_pairs', 'a'), /A key of table "store_pairs" is first, second/)
    await assert.rejects(store.put('store_pairs', loosely({ first: 'a', note: null })), /needs a text in "second"/)
    await assert.rejects(store.patch('store_papers', 'a', { id: 'b' }), /part of the key/)
  })

  it('refuses filters by json and search columns, odd tokens and odd limits', async () => {
    const { store } = await open()
    const unsupported = { code: 'FILTER_UNSUPPORTED' }
    await assert.rejects(store.find('store_papers', { where: loosely({ data: 'x' }) }), unsupported)
    await assert.rejects(store.find('store_papers', { search: ['two words'] }), unsupported)
    await assert.rejects(store.find('store_papers', { search: ['*'] }), unsupported)
    for (const limit of [0, 1.5, 10_001]) await assert.rejects(store.find('store_papers', { limit }), unsupported)
  })

  it('refuses a search that the backend does not offer', async () => {
    const { store } = await open({}, (driver) => ({ ...driver, capabilities: { search: 'none', shared: false } }))
    await assert.rejects(store.find('store_papers', { search: ['x'] }), {
      code: 'FILTER_UNSUPPORTED',
      message: /has no search/,
    })
  })

  it('refuses tables that contradict themselves', () => {
    const refused = (table: Partial<Table>, text: RegExp) =>
      assert.throws(
        () => createStore({} as Driver, [{ id: 'odd', columns: { id: 'text' }, ...table }], { redact: hiding() }),
        { code: 'UNKNOWN_COLUMN', message: text },
      )
    refused({ columns: { id: 'text', 'a"b': 'text' } }, /"a"b" is no name/)
    refused({ columns: { id: 'text', recorded: 'integer' } }, /kept by the storage/)
    refused({ columns: { id: 'text', a: 'search', b: 'search' } }, /more than one search column/)
    refused({ columns: { id: 'integer' } }, /key column "id"/)
    refused({ key: ['other'] }, /key column "other"/)
    refused({ indexes: [['size']] }, /"size" is not declared/)
    refused({ repeated: ['size'] }, /"size" is not declared/)
    refused({ columns: { id: 'text', data: 'json' }, indexes: [['data']] }, /"data" cannot be indexed/)
    refused({ indexes: [['recorded', 'id']] }, /only stand last/)
  })
})

describe('store: exclusive work', () => {
  it('is queued by row: rows do not wait for one another, and nothing is kept afterwards', async () => {
    const queues = new KeyedQueue()
    const order: string[] = []
    const gate = Promise.withResolvers<void>()
    const first = queues.run('a', () => gate.promise.then(() => order.push('a1')))
    const second = queues.run('a', async () => order.push('a2'))
    await queues.run('b', async () => order.push('b1'))
    assert.equal(queues.size, 1)
    gate.resolve()
    await Promise.all([first, second])
    assert.deepEqual(order, ['b1', 'a1', 'a2'])
    assert.equal(queues.size, 0)
  })

  it('waits under many names for what came before under any of them', async () => {
    const queues = new KeyedQueue()
    const order: string[] = []
    const gate = Promise.withResolvers<void>()
    const first = queues.run('n9999', () => gate.promise.then(() => order.push('one')))
    const names = Array.from({ length: 10_000 }, (_, n) => `n${n}`)
    const all = queues.runAll(names, async () => order.push('all'))
    const backwards = queues.runAll(names.toReversed(), async () => order.push('backwards'))
    const last = queues.run('n0', async () => order.push('last'))
    await queues.run('other', async () => order.push('other'))
    gate.resolve()
    await Promise.all([first, all, backwards, last])
    assert.deepEqual(order, ['other', 'one', 'all', 'backwards', 'last'])
    assert.equal(queues.size, 0)
  })

  it('continues after work that failed', async () => {
    const queues = new KeyedQueue()
    const failed = queues.run('a', () => Promise.reject(new Error('no')))
    const next = queues.run('a', async () => 'yes')
    await assert.rejects(failed, /no/)
    assert.equal(await next, 'yes')
  })

  it("uses the backend's own lock where there is one", async () => {
    const keys: (readonly string[])[] = []
    const { store } = await open({}, (driver) => ({
      ...driver,
      exclusive: async (_table, key, work) => {
        keys.push(key)
        const [result, batch] = await work(driver)
        await driver.write(batch, { sync: false, hold: false })
        return result
      },
    }))
    const result = await store.exclusive('store_papers', 'a', async (read) => {
      assert.equal(await read.get('store_papers', 'a'), undefined)
      return ['done', [{ table: 'store_papers', put: paper('a', { title: 'secret' }) }]]
    })
    assert.deepEqual([result, keys], ['done', [['a']]])
    assert.equal((await store.get('store_papers', 'a'))?.title, '[HIDDEN]')
  })
})

describe('store: what it hands to the driver', () => {
  it('says whether a batch must be synced or may be held, and passes the state on', async () => {
    const asked: unknown[] = []
    const onRefused = () => {}
    let listener: ((state: 'full') => void) | undefined
    const { store } = await open({}, (driver) => ({
      ...driver,
      state: 'busy',
      onState: (given) => {
        listener = given
        return () => {
          listener = undefined
        }
      },
      write: async (_batch, options) => asked.push(options) > 0,
    }))
    await store.put('store_papers', paper('a'))
    await store.write(
      [
        { table: 'store_papers', put: paper('a') },
        { table: 'store_papers', put: paper('b'), sync: true },
      ],
      { hold: true, onRefused },
    )
    assert.equal(await store.write([]), true)
    assert.deepEqual(asked, [
      { sync: false, hold: false, onRefused: undefined },
      { sync: true, hold: true, onRefused },
    ])
    const states: string[] = []
    const stop = store.onState((state) => states.push(state))
    listener?.('full')
    stop()
    assert.deepEqual([store.state, states, listener], ['busy', ['full'], undefined])
  })
})
