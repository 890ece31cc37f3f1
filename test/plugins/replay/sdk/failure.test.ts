import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { createGuard, type GuardIngestError, type GuardOptions } from 'guard-gateway/sdk'
import { guarded } from '../../../kit/sdk.ts'

/** A guard with these responses in order, then successful ones. Timers are mocked. */
const answered = (test: TestContext, answers: readonly (() => Response)[], options: GuardOptions = {}) => {
  test.mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  test.mock.method(Math, 'random', () => 0.5)
  const left = [...answers]
  const bodies: string[] = []
  const errors: GuardIngestError[] = []
  const guard = createGuard({
    handleExit: false,
    onError: (error) => errors.push(error as GuardIngestError),
    fetch: async (_url, init) => {
      bodies.push(String(init?.body))
      return (left.shift() ?? (() => new Response('{}')))()
    },
    ...options,
  })
  return { guard, bodies, errors }
}

/** Runs everything that needs no timer. */
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
}

const down = (): Response => {
  throw new TypeError('fetch failed', { cause: Object.assign(new Error(''), { code: 'ECONNREFUSED' }) })
}
const refused =
  (status: number, error: object = {}, headers = {}) =>
  () =>
    new Response(JSON.stringify({ error }), { status, headers })

describe('a gateway that fails', () => {
  it('is retried three times, after 0.2, 1 and 5 s; then the records count as failed', async (test) => {
    const { guard, bodies, errors } = answered(test, [down, refused(500), refused(503), down])
    await guard.trace('job', () => {})
    test.mock.timers.tick(1_000)
    for (const [tries, wait] of [
      [1, 199],
      [1, 1],
      [2, 999],
      [2, 1],
      [3, 4_999],
      [3, 1],
    ] as const) {
      await settle()
      assert.equal(bodies.length, tries)
      test.mock.timers.tick(wait)
    }
    await settle()
    assert.equal(bodies.length, 4)
    assert.equal(new Set(bodies).size, 1)
    assert.deepEqual(guard.stats(), { queued: 0, sent: 0, dropped: 0, failed: 1, unknown: 0 })
    assert.equal(errors.length, 1)
    assert.equal(errors[0]?.name, 'GuardIngestError')
    assert.deepEqual([errors[0]?.status, errors[0]?.code], [null, 'NETWORK_ERROR'])
    assert.match(
      errors[0]?.message ?? '',
      /^1 record was not stored\. Nobody answers at http:\/\/127\.0\.0\.1:8787\. Start the gateway, or name its address\.$/,
    )
    // the next trace is sent as usual
    await guard.trace('next', () => {})
    test.mock.timers.tick(1_000)
    await settle()
    assert.equal(guard.stats().sent, 1)
  })

  for (const [what, value] of [
    ['seconds', '30'],
    ['a date', new Date(30_000).toUTCString()],
  ] as const) {
    it(`is not retried before its Retry-After in ${what}`, async (test) => {
      const { guard, bodies } = answered(test, [refused(429, {}, { 'retry-after': value })], { flushMs: 1 })
      await guard.trace('job', () => {})
      test.mock.timers.tick(1)
      await settle()
      test.mock.timers.tick(29_998)
      await settle()
      assert.equal(bodies.length, 1)
      test.mock.timers.tick(2)
      await settle()
      assert.equal(bodies.length, 2)
      assert.equal(guard.stats().sent, 1)
    })
  }

  it('that rejects records gets no retry, and the error names them, with location and reason', async (test) => {
    const error = { code: 'INVALID_SPAN', message: 'A span ends before it starts.', path: '/spans/1' }
    const { guard, bodies, errors } = answered(test, [refused(400, error)])
    await guard.trace('job', () => {})
    test.mock.timers.tick(1_000)
    await settle()
    assert.equal(bodies.length, 1)
    const [{ status, code, path, message } = {} as GuardIngestError] = errors
    assert.deepEqual({ status, code, path }, { status: 400, code: 'INVALID_SPAN', path: '/spans/1' })
    assert.equal(message, '1 record was not stored. A span ends before it starts.')
    assert.equal(guard.stats().failed, 1)
  })

  it('that finds a body too large gets halves, and one record that is too large is dropped', async (test) => {
    const too_large = refused(413, { code: 'BODY_TOO_LARGE', message: 'Too large.' })
    const { guard, bodies, errors } = answered(test, [too_large, too_large, too_large])
    await guard.trace('job', (trace) => {
      for (const name of ['a', 'b', 'c']) trace.event(name)
    })
    test.mock.timers.tick(1_000)
    await settle()
    const sent = bodies.map((body) => {
      const { events, status } = JSON.parse(body) as { events: { name: string }[]; status: string }
      return [status, ...events.map(({ name }) => name)]
    })
    assert.deepEqual(sent, [
      ['ok', 'a', 'b', 'c'],
      ['running', 'a', 'b'],
      ['running', 'a'],
      ['running', 'b'],
      ['ok', 'c'],
    ])
    assert.deepEqual(guard.stats(), { queued: 0, sent: 3, dropped: 0, failed: 1, unknown: 0 })
    assert.equal(errors[0]?.code, 'BODY_TOO_LARGE')
  })

  it('that reserves an id of a record gets the other records without it', async (test) => {
    const own = (code: string, path: string) => refused(409, { code, message: 'The gateway wrote it.', path })
    const { guard, bodies, errors } = answered(test, [
      own('SPAN_IMMUTABLE', '/spans/2/id'),
      own('EVENT_IMMUTABLE', '/events/0'),
      refused(409, { code: 'TRACE_CONFLICT', message: 'Another project.' }),
    ])
    await guard.trace('job', (trace) => {
      trace.event('e')
      guard.span('a', () => {})
      guard.span('b', () => {})
    })
    test.mock.timers.tick(1_000)
    await settle()
    const last = JSON.parse(bodies.at(-1) ?? '') as { events: unknown[]; spans: { name: string }[] }
    assert.deepEqual([last.events.length, last.spans.map(({ name }) => name)], [0, ['agent.run', 'a']])
    assert.deepEqual(guard.stats(), { queued: 0, sent: 0, dropped: 0, failed: 4, unknown: 0 })
    assert.deepEqual(
      errors.map(({ code }) => code),
      ['SPAN_IMMUTABLE', 'EVENT_IMMUTABLE', 'TRACE_CONFLICT'],
    )
  })

  it('that is down costs no more memory than the queue, over 100,000 spans', async (test) => {
    const { guard, errors } = answered(test, [down, down, down, down, down], { maxQueue: 500 })
    for (let span = 0; span < 100_000; span++) {
      assert.equal(
        guard.span('step', { span }, () => span),
        span,
      )
      if (span % 10_000 === 0) await settle()
    }
    const { queued, dropped, sent, failed } = guard.stats()
    assert.ok(queued <= 1_000, `${queued} wait`)
    assert.equal(queued + dropped + sent + failed, 200_000)
    assert.equal(errors.filter(({ code }) => code === ('QUEUE_FULL' as string)).length, 1)
    test.mock.timers.tick(60_001)
    for (let span = 0; span < 1_000; span++) guard.span('step', () => {})
    assert.equal(errors.filter(({ code }) => code === ('QUEUE_FULL' as string)).length, 2)
  })

  it('never changes a result or an error of the user’s code', async (test) => {
    const { guard, errors } = answered(test, [down, down, down, down], { ingestTimeoutMs: 300 })
    assert.equal(await guard.trace('good', () => 'value'), 'value')
    const mine = new Error('mine')
    const caught = guard
      .trace('bad', () => Promise.reject(mine))
      .then(
        () => assert.fail('it must reject'),
        (error: unknown) => error,
      )
    await settle()
    test.mock.timers.tick(300)
    assert.equal(await caught, mine)
    assert.equal(mine.cause, undefined)
    assert.deepEqual(errors, [])
  })
})

describe('requests to the gateway', () => {
  for (const [what, script] of [
    ['got no response', { lose: true }],
    ['got half a response', { cut: true }],
  ] as const) {
    it(`that were stored but ${what} are retried, and add nothing twice`, async (test) => {
      const { guard, server, errors } = await guarded(test)
      server.script(script)
      await guard.trace('job', (trace) => {
        trace.event('e')
        guard.span('s', () => {})
        trace.artifact({ path: 'a' })
      })
      await guard.flush()
      const { spans, events, artifacts } = server.run()
      assert.equal(server.requests.length, 2)
      assert.deepEqual([spans.size, events.size, artifacts.size], [2, 1, 1])
      assert.deepEqual(guard.stats(), { queued: 0, sent: 4, dropped: 0, failed: 0, unknown: 0 })
      assert.deepEqual(errors, [])
    })
  }

  it('are not redirected: records go to the gateway only', async (test) => {
    const { guard, server, errors } = await guarded(test)
    server.script({ status: 307, headers: { location: `${server.url}/elsewhere` } })
    await guard.trace('job', () => {})
    await guard.flush()
    assert.deepEqual(
      server.requests.map(({ path }) => path),
      ['/api/v1/traces'],
    )
    assert.deepEqual(
      errors.map((error) => [error.code, error.message]),
      [['HTTP_ERROR', '1 record was not stored. The gateway answered 307.']],
    )
  })

  it('delay close() up to its limit, after which the rest is dropped', async (test) => {
    const { guard, server, codes } = await guarded(test, { ingestTimeoutMs: 40 })
    const { promise, resolve } = Promise.withResolvers<void>()
    server.always({ until: promise })
    await guard.trace('slow', () => {})
    await guard.close()
    await guard.close()
    assert.deepEqual(guard.stats(), { queued: 0, sent: 0, dropped: 0, failed: 0, unknown: 1 })
    assert.deepEqual(codes(), ['ABANDONED'])
    resolve()
    await guard.trace('closed', () => {})
    await guard.trace('closed', () => {})
    assert.deepEqual(codes(), ['ABANDONED', 'CLOSED'])
  })

  it('start automatically at 100 records, one request at a time', async (test) => {
    const { guard, server } = await guarded(test)
    for (let trace = 0; trace < 50; trace++) guard.span(`trace ${trace}`, () => {})
    await server.received(50)
    await guard.flush()
    assert.deepEqual(
      server.requests.map(({ trace }) => trace.name),
      Array.from({ length: 50 }, (_, index) => `trace ${index}`),
    )
  })
})
