import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { createGuard, type GuardIngestError } from 'guard-gateway/sdk'
import type { SentTrace } from '../../../kit/ingest.ts'

type Answer = 'stored' | 'lost' | 'refused' | 'down'

/** A guard whose gateway answers as `state.answer` says. `lost`: it stores what it gets and never answers. Timers are mocked. */
const losing = (test: TestContext) => {
  test.mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  test.mock.method(Math, 'random', () => 0.5)
  const state: { answer: Answer } = { answer: 'stored' }
  const bodies: SentTrace[] = []
  const errors: GuardIngestError[] = []
  const guard = createGuard({
    handleExit: false,
    flushMs: 10,
    ingestTimeoutMs: 1_500,
    onError: (error) => errors.push(error as GuardIngestError),
    fetch: (_url, init) => {
      bodies.push(JSON.parse(String(init?.body)))
      if (state.answer === 'stored') return Promise.resolve(new Response('{}'))
      if (state.answer === 'down')
        return Promise.reject(new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } }))
      if (state.answer === 'refused')
        return Promise.resolve(new Response('{"error":{"code":"INVALID_SPAN","message":"No."}}', { status: 400 }))
      return new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')))
      })
    },
  })
  /** Runs everything that needs no timer, then lets this time pass. */
  const pass = async (...times: readonly number[]): Promise<void> => {
    for (const ms of times) {
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
      test.mock.timers.tick(ms)
    }
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
  }
  return { state, bodies, errors, guard, pass }
}

/** Four tries that time out, and the waits between them. */
const ALL_TRIES = [1_500, 200, 1_500, 1_000, 1_500, 5_000, 1_500]

describe('records of which nobody knows whether they are stored', () => {
  it('count as unknown, and the end of the trace is sent again when the gateway answers', async (test) => {
    const { state, bodies, errors, guard, pass } = losing(test)
    state.answer = 'lost'
    await guard.trace('slow', (trace) => trace.event('e'))
    await pass(10, ...ALL_TRIES)
    assert.equal(bodies.length, 4)
    assert.deepEqual(guard.stats(), { queued: 0, sent: 0, dropped: 0, failed: 0, unknown: 2 })
    assert.deepEqual(
      errors.map(({ code, message }) => [code, message]),
      [['TIMEOUT', 'It is not known whether 2 records were stored. The gateway did not answer within 1500 ms.']],
    )

    state.answer = 'stored'
    await guard.trace('next', () => {})
    await pass(10)
    const [next, end] = bodies.slice(4)
    assert.equal(next?.name, 'next')
    assert.deepEqual([end?.trace_id, end?.name, end?.status], [bodies[0]?.trace_id, 'slow', 'ok'])
    assert.deepEqual([end?.spans?.length, end?.events?.length, typeof end?.spans?.[0]?.end_ns], [1, 0, 'string'])
    assert.deepEqual(guard.stats(), { queued: 0, sent: 1, dropped: 0, failed: 0, unknown: 2 })

    // it is sent once
    await guard.trace('last', () => {})
    await pass(10)
    assert.deepEqual(
      bodies.slice(6).map(({ name }) => name),
      ['last'],
    )
  })

  it('have their end sent by flush(), which waits for it', async (test) => {
    const { state, bodies, guard, pass } = losing(test)
    state.answer = 'lost'
    await guard.trace('slow', () => {})
    await pass(10, ...ALL_TRIES)
    state.answer = 'stored'
    await guard.flush()
    assert.deepEqual(
      bodies.map(({ status }) => status),
      ['ok', 'ok', 'ok', 'ok', 'ok'],
    )
    assert.equal(bodies[4]?.spans?.length, 1)
  })

  it('are the rest of a trace of which a part is stored', async (test) => {
    const { state, bodies, guard, pass } = losing(test)
    const { promise: held, resolve } = Promise.withResolvers<void>()
    const ended = guard.trace('long', async (trace) => {
      trace.event('before')
      await held
      trace.event('after')
    })
    await guard.flush()
    assert.equal(bodies[0]?.status, 'running')
    state.answer = 'lost'
    resolve()
    await ended
    await pass(10, ...ALL_TRIES)
    assert.deepEqual(guard.stats(), { queued: 0, sent: 1, dropped: 0, failed: 0, unknown: 2 })
    state.answer = 'stored'
    await guard.flush()
    assert.deepEqual([bodies.at(-1)?.name, bodies.at(-1)?.status], ['long', 'ok'])
  })

  it('are none if the gateway was never there, though the last try was broken off', async (test) => {
    const { state, bodies, errors, guard, pass } = losing(test)
    state.answer = 'down'
    await guard.trace('job', () => {})
    await pass(10)
    state.answer = 'lost'
    await pass(200)
    const closed = guard.close()
    await pass(1_500, 100)
    await closed
    assert.equal(bodies.length, 2)
    assert.deepEqual(guard.stats(), { queued: 0, sent: 0, dropped: 0, failed: 1, unknown: 0 })
    assert.match(errors[0]?.message ?? '', /^1 record was not stored\. Nobody answers at /)
  })

  it('are none if the gateway refuses them: nothing is sent again', async (test) => {
    const { state, bodies, guard, pass } = losing(test)
    state.answer = 'refused'
    await guard.trace('refused', () => {})
    await pass(10)
    assert.deepEqual(guard.stats(), { queued: 0, sent: 0, dropped: 0, failed: 1, unknown: 0 })
    state.answer = 'stored'
    await guard.flush()
    assert.equal(bodies.length, 1)
  })
})
