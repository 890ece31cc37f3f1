import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createGuard } from 'guard-gateway/sdk'
import { type KeptRun, named } from '../../../kit/ingest.ts'
import { guarded } from '../../../kit/sdk.ts'

/** `child < parent` for every span except the root, sorted. */
const family = ({ spans }: KeptRun): readonly string[] =>
  [...spans.values()]
    .filter((span) => span.parent_id !== undefined)
    .map((span) => `${span.name} < ${spans.get(span.parent_id ?? '')?.name}`)
    .sort()

describe('the current span', () => {
  it('is the parent, also in parallel spans, timers, emitters and async generators', async (test) => {
    const { guard, server } = await guarded(test)
    await guard.trace('many ways', async () => {
      await Promise.all(
        ['left', 'right'].map((side) =>
          guard.span(side, async () => {
            await nextTurn()
            guard.span(`${side} step`, () => {})
          }),
        ),
      )
      await guard.span('timer', async () => {
        const { promise, resolve } = Promise.withResolvers<void>()
        setImmediate(() => guard.span('timer step', () => resolve()))
        await promise
      })
      const emitter = new EventEmitter()
      emitter.on('go', () => guard.span('emitter step', () => {}))
      guard.span('emitter', () => emitter.emit('go'))
      await guard.span('generator', async () => {
        for await (const number of numbers()) guard.span(`generator step ${number}`, () => {})
      })
      async function* numbers() {
        await nextTurn()
        yield guard.span('produced', () => 1)
      }
    })
    assert.equal(guard.current(), undefined)
    await guard.flush()
    assert.deepEqual(family(server.run()), [
      'emitter < agent.run',
      'emitter step < emitter',
      'generator < agent.run',
      'generator step 1 < generator',
      'left < agent.run',
      'left step < left',
      'produced < generator',
      'right < agent.run',
      'right step < right',
      'timer < agent.run',
      'timer step < timer',
    ])
  })

  it('of a nested trace is its root, and after its end the outer span is current again', async (test) => {
    const { guard, server } = await guarded(test)
    await guard.trace('outer', async () => {
      await guard.trace('inner', () => guard.span('inside', () => {}))
      guard.span('behind', () => {})
    })
    await guard.flush()
    const runs = [...server.runs.values()].map((run) => [run.fields.name, ...family(run)])
    assert.deepEqual(runs.sort(), [
      ['inner', 'inside < agent.run'],
      ['outer', 'behind < agent.run'],
    ])
  })

  it('belongs to its guard: two guards do not mix', async (test) => {
    const first = await guarded(test)
    const second = await guarded(test)
    await first.guard.trace('first', async () => {
      await second.guard.trace('second', () => {
        const foreign = second.guard.current()
        first.guard.span('of first', () => {})
        first.guard.start('by hand', {}, { parent: foreign }).end()
        second.guard.span('of second', () => {})
      })
    })
    await Promise.all([first.guard.flush(), second.guard.flush()])
    assert.deepEqual(family(first.server.run()), ['by hand < agent.run', 'of first < agent.run'])
    assert.deepEqual(family(second.server.run()), ['of second < agent.run'])
  })

  it('is not visible to the requests of the SDK itself', async (test) => {
    const seen: unknown[] = []
    const { guard } = await guarded(test, {
      flushMs: 1,
      fetch: async () => {
        seen.push(guard.current())
        return new Response('{}')
      },
    })
    const sent = Promise.withResolvers<void>()
    await guard.trace('job', async () => {
      guard.span('alone', () => {})
      await guard.flush()
      sent.resolve()
    })
    await sent.promise
    assert.deepEqual(seen, [undefined])
  })
})

describe('a span', () => {
  it('outside a trace opens a trace of the same name, which ends with it and with its status', async (test) => {
    const { guard, server } = await guarded(test)
    assert.equal(
      guard.span('lonely', (span) => {
        span.status('timeout')
        return 7
      }),
      7,
    )
    await guard.flush()
    assert.deepEqual(family(server.run()), ['lonely < agent.run'])
    assert.equal(server.run().fields.name, 'lonely')
    assert.equal(server.run().fields.status, 'timeout')
  })

  it('can outlive its parent and its trace: it keeps its parent and is sent when it ends', async (test) => {
    const { guard, server } = await guarded(test)
    const { promise, resolve } = Promise.withResolvers<void>()
    let late: Promise<void> | undefined
    await guard.trace('short', () => {
      guard.span('parent', () => {
        late = guard.span('late', () => promise)
      })
    })
    await guard.flush()
    assert.deepEqual(family(server.run()), ['parent < agent.run'])
    resolve()
    await late
    await guard.flush()
    assert.deepEqual(family(server.run()), ['late < parent', 'parent < agent.run'])
    assert.equal(server.run().fields.status, 'ok')
  })

  it('from start() ends by end(), fail() or using, below the given parent', async (test) => {
    const { guard, server } = await guarded(test)
    await guard.trace('by hand', (trace) => {
      const first = guard.start('first', { a: 1 })
      assert.equal(guard.current()?.id, trace.id)
      {
        using second = guard.start('second', undefined, { parent: first })
        second.span('third', () => {})
      }
      const failing = guard.start('failing')
      failing.fail(new Error('no'))
      failing.end()
      first.end()
      first.end()
    })
    await guard.flush()
    assert.deepEqual(family(server.run()), [
      'failing < agent.run',
      'first < agent.run',
      'second < first',
      'third < second',
    ])
    assert.equal(named(server.run().spans, 'failing').status, 'error')
    assert.equal(server.run().fields.status, 'ok')
  })

  it('returns the same promise as its callback, and starts another thenable once', async (test) => {
    const { guard } = await guarded(test)
    const promise = Promise.resolve(1)
    assert.equal(
      guard.span('promise', () => promise),
      promise,
    )
    let started = 0
    const query: PromiseLike<string> = {
      // computed, because a literal member `then` triggers a lint rule
      ['then' as const]: (resolve) => {
        started++
        return Promise.resolve('row').then(resolve)
      },
    }
    assert.equal(await guard.span('query', () => query), 'row')
    assert.equal(started, 1)
  })

  it('records each call of a wrapped function, which keeps its this, name and length', async (test) => {
    const { guard, server } = await guarded(test)
    const counter = {
      count: 1,
      add: guard.wrap(function add(this: { count: number }, by: number) {
        this.count += by
        return this.count
      }),
      away: guard.wrap(async (a: string, b: string) => a + b, 'joined'),
    }
    assert.equal(counter.add.name, 'add')
    assert.equal(counter.away.length, 2)
    await guard.trace('calls', async () => {
      assert.equal(counter.add(2), 3)
      assert.equal(await counter.away('a', 'b'), 'ab')
    })
    await guard.flush()
    assert.deepEqual(family(server.run()), ['add < agent.run', 'joined < agent.run'])
  })
})

describe('a disabled guard', () => {
  it('runs callbacks, sends and records nothing, and adds no span to headers', async (test) => {
    let requests = 0
    const fetch = async () => {
      requests++
      return new Response('{}')
    }
    const guard = createGuard({ enabled: false, fetch, project: 'demo' })
    test.after(() => guard.close())
    const result = await guard.trace('off', (trace) => {
      trace.tag('x')
      assert.deepEqual(guard.headers(), { 'x-guard-project-id': 'demo' })
      return guard.span('step', (span) => {
        span.event('e')
        return 3
      })
    })
    assert.equal(result, 3)
    await assert.rejects(
      guard.trace('off', () => Promise.reject(new Error('mine'))),
      { message: 'mine' },
    )
    await guard.flush()
    assert.equal(requests, 0)
    assert.deepEqual(guard.stats(), { queued: 0, sent: 0, dropped: 0, failed: 0, unknown: 0 })
  })
})
