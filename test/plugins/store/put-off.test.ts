import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Key, type Storage, table } from 'guard-gateway/core'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { createStore } from 'guard-gateway/plugins/store'

declare module 'guard-gateway/core' {
  interface Tables {
    put_off_things: { id: string; size: number }
  }
}

const things = table({ id: 'put_off_things', columns: { id: 'text', size: 'integer' } })
const plain = { text: (text: string) => text, value: <T>(value: T) => value, judgeId: () => 'plain' as const }

const openStore = async (): Promise<Storage> => createStore(await memory().open([things]), [things], { redact: plain })

describe('a writer that puts writes off', () => {
  it('is asked before a row is read, and before rows are, and waited for', async () => {
    const store = await openStore()
    const asked: (Key | undefined)[] = []
    store.beforeReads('put_off_things', (key) => {
      asked.push(key)
      return store.put('put_off_things', { id: 'a', size: asked.length })
    })
    assert.equal((await store.get('put_off_things', 'a'))?.size, 1)
    assert.deepEqual((await store.find('put_off_things')).rows, [{ id: 'a', size: 2 }])
    const size = await store.exclusive('put_off_things', 'a', async (read) => [
      (await read.get('put_off_things', 'a'))?.size,
      [],
    ])
    assert.equal(size, 3)
    assert.deepEqual(asked, ['a', undefined, 'a'])
  })

  it('may have deferred nothing, and is told of by name', async () => {
    const store = await openStore()
    store.beforeReads('put_off_things', () => undefined)
    assert.equal(await store.get('put_off_things', 'a'), undefined)
    assert.throws(() => store.beforeReads('nothing' as never, () => undefined), { code: 'UNKNOWN' })
  })
})
