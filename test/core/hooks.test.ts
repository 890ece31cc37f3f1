import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runInNewContext } from 'node:vm'
import { type Call, errorOrigin, undecided } from 'guard-gateway/core'
import { createHooks } from '../../core/hooks.ts'

const call = {} as Call
const rejected = (reason: unknown) => () => Promise.reject(reason)

describe('a hook whose taps throw to whoever calls it', () => {
  it('takes promises, those of other realms, and plain values, in order', async () => {
    const { decision } = createHooks()
    const seen: string[] = []
    const tap = (name: string, answer: (message: string) => unknown) =>
      decision.tapPromise(name, ((given: { message: string }) => {
        seen.push(given.message)
        return answer(`${given.message}${name}`)
      }) as never)
    const said = (message: string) => ({ ...undecided, message })
    tap('a', async (message) => said(message))
    tap('b', (message) => said(message))
    tap('c', (message) => runInNewContext('Promise.resolve(value)', { value: said(message) }))
    tap('d', () => undefined)
    assert.equal((await decision.promise(undecided, call)).message, 'abc')
    assert.deepEqual(seen, ['', 'a', 'ab', 'abc'])
  })

  it('gives on what a tap throws or rejects with, and who it was', async () => {
    for (const fail of [
      rejected(new Error('mine')),
      () => {
        throw new Error('mine')
      },
    ]) {
      const { request } = createHooks()
      request.tapPromise('bad', fail)
      const error = await request.promise(call).catch((thrown: unknown) => thrown)
      assert.deepEqual([String(error), errorOrigin(error)], ['Error: mine', 'request:bad'])
    }
  })

  it('hears of a tap that throws instead of calling back, also where one before it was waited for', async () => {
    for (const before of [async () => {}, () => {}]) {
      const { request } = createHooks()
      request.tapPromise('before', before)
      request.tapAsync('bad', () => {
        throw new Error('mine')
      })
      const error = await request.promise(call).catch((thrown: unknown) => thrown)
      assert.deepEqual([String(error), errorOrigin(error)], ['Error: mine', 'request:bad'])
    }
  })

  it('takes a rejection without a reason for one', async () => {
    for (const reason of [undefined, null, 0, '', false]) {
      const { request } = createHooks()
      request.tapPromise('bad', rejected(reason))
      request.tap('next', () => assert.fail('went on'))
      await assert.rejects(request.promise(call), { message: `threw ${String(reason)}` })
    }
  })

  it('stops at the first answer where one is enough', async () => {
    const { forward } = createHooks()
    forward.tapPromise('none', async () => undefined)
    forward.tapPromise('first', async () => 'reply' as never)
    forward.tap('second', () => assert.fail('asked'))
    assert.equal(await forward.promise(call, {} as never), 'reply')
  })
})

describe('a hook whose taps are isolated', () => {
  it('runs the others when one throws or rejects, and reports it by name, whatever a reporter does', async () => {
    const { settle, fault } = createHooks()
    const faults: string[] = []
    const ran: string[] = []
    fault.tap('broken', () => {
      throw new Error('nobody hears of it')
    })
    fault.tap('test', (error, where) => void faults.push(`${where} ${String(error)}`))
    settle.tapPromise('one', rejected(new Error('late')))
    settle.tapPromise('two', (() => {
      throw new Error('early')
    }) as never)
    settle.tapPromise('three', rejected(undefined))
    settle.tapPromise('four', async () => void ran.push('four'))
    settle.tap('five', () => void ran.push('five'))
    await settle.promise({} as never)
    assert.deepEqual(ran, ['four', 'five'])
    assert.deepEqual(faults, ['settle:one Error: late', 'settle:two Error: early', 'settle:three undefined'])
  })
})
