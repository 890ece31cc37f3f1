import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type KeptRun, named, type SentEvent } from '../../../kit/ingest.ts'
import { guarded } from '../../../kit/sdk.ts'

const exceptions = ({ events }: KeptRun): readonly SentEvent[] =>
  [...events.values()].filter(({ name }) => name === 'exception')

/** The rejection of `work`, of any type. */
const rejection = async (work: Promise<unknown>): Promise<unknown> => {
  try {
    await work
  } catch (thrown) {
    return thrown
  }
  throw new Error('it did not reject')
}

describe('an exception', () => {
  for (const [what, thrown, type, message] of [
    ['an error', Object.assign(new RangeError('too far'), { code: 'E_FAR' }), 'RangeError', 'too far'],
    ['a string', 'just text', 'string', 'just text'],
    ['null', null, 'null', 'null'],
    ['an object', { message: 'odd' }, 'Object', 'odd'],
  ] as const) {
    it(`that is ${what} marks span and trace, has one event, and is unchanged after ingestion`, async (test) => {
      const { guard, server } = await guarded(test)
      const caught = await rejection(
        guard.trace('failing', () =>
          guard.span('outer', async () => {
            await guard.span('inner', async () => {
              throw thrown
            })
          }),
        ),
      )
      // no flush here: the rejection of trace() is enough
      assert.ok(Object.is(caught, thrown))
      const run = server.run()
      assert.equal(run.fields.status, 'error')
      for (const name of ['agent.run', 'outer', 'inner']) assert.equal(named(run.spans, name).status, 'error')
      const [event, ...more] = exceptions(run)
      assert.equal(more.length, 0)
      const inner = named(run.spans, 'inner')
      assert.equal(event?.span_id, inner.id)
      assert.equal(event?.attributes?.['exception.type'], type)
      assert.equal(event?.attributes?.['exception.message'], message)
      assert.equal(inner.status_message, message)
      assert.equal(inner.attributes?.['error.type'], what === 'an error' ? 'E_FAR' : type)
      assert.equal(named(run.spans, 'outer').attributes, undefined)
      assert.equal(typeof event?.attributes?.['exception.stacktrace'] === 'string', what === 'an error')
    })
  }

  it('of a synchronous span is thrown at once, and the outer trace can continue', async (test) => {
    const { guard, server } = await guarded(test)
    const error = new Error('sync')
    await guard.trace('caught', () => {
      assert.throws(
        () =>
          guard.span('step', () => {
            throw error
          }),
        (thrown) => thrown === error,
      )
    })
    await guard.flush()
    assert.equal(named(server.run().spans, 'step').status, 'error')
    assert.equal(server.run().fields.status, 'ok')
  })

  it('outside a trace marks the trace that was opened for the span', async (test) => {
    const { guard, server } = await guarded(test)
    await assert.rejects(
      guard.span('lonely', async () => {
        throw new Error('alone')
      }),
    )
    await guard.flush()
    assert.equal(server.run().fields.status, 'error')
    assert.equal(exceptions(server.run()).length, 1)
  })

  it('in a child that its parent does not await marks only the child, which ends later', async (test) => {
    const { guard, server } = await guarded(test)
    let child: Promise<never> | undefined
    const { promise, reject } = Promise.withResolvers<never>()
    await guard.trace('left', () =>
      guard.span('parent', () => {
        child = guard.span('child', () => promise)
        child.catch(() => {})
      }),
    )
    reject(new Error('late'))
    await assert.rejects(child ?? Promise.resolve(), { message: 'late' })
    await guard.flush()
    const { spans, fields } = server.run()
    assert.equal(named(spans, 'child').status, 'error')
    assert.equal(named(spans, 'parent').status, 'ok')
    assert.equal(fields.status, 'ok')
    assert.equal(exceptions(server.run()).length, 1)
  })

  it('is recorded once per throw, and once for a thrown string that propagates', async (test) => {
    const { guard, server } = await guarded(test)
    const shared = new Error('shared')
    const thrower = () => {
      throw shared
    }
    await rejection(guard.trace('first', () => guard.span('a', thrower)))
    await rejection(guard.trace('second', () => guard.span('b', thrower)))
    for (const run of server.runs.values()) assert.equal(exceptions(run).length, 1)
    assert.equal(server.runs.size, 2)
  })

  it('in a nested trace has its event there, and marks the outer trace', async (test) => {
    const { guard, server } = await guarded(test)
    await rejection(guard.trace('outer', () => guard.trace('inner', () => Promise.reject(new Error('deep')))))
    const runs = [...server.runs.values()].map((run) => [run.fields.name, run.fields.status, exceptions(run).length])
    assert.deepEqual(runs.sort(), [
      ['inner', 'error', 1],
      ['outer', 'error', 0],
    ])
  })

  it('overrides an earlier status, and a status set after the catch remains', async (test) => {
    const { guard, server } = await guarded(test)
    await guard.trace('recovered', async (trace) => {
      await rejection(
        guard.span('step', async (span) => {
          span.status('ok', 'fine so far')
          throw new Error('but no')
        }),
      )
      trace.status('timeout', 'gave up')
    })
    await guard.flush()
    const { spans, fields } = server.run()
    assert.equal(named(spans, 'step').status, 'error')
    assert.equal(named(spans, 'step').status_message, 'but no')
    assert.equal(fields.status, 'timeout')
    assert.equal(named(spans, 'agent.run').status_message, 'gave up')
  })

  it('with throwing accessors is described as far as possible', async (test) => {
    const { guard, server } = await guarded(test)
    const hostile = Object.defineProperties(new Error('x'), {
      message: {
        get: () => {
          throw new Error('no message for you')
        },
      },
      code: { value: 7 },
    })
    assert.equal(await rejection(guard.trace('hostile', () => Promise.reject(hostile))), hostile)
    assert.equal(exceptions(server.run())[0]?.attributes?.['exception.type'], 'Error')
    assert.equal(named(server.run().spans, 'agent.run').attributes?.['error.type'], 'Error')
  })

  it('that was recorded with fail() is not recorded again when it propagates', async (test) => {
    const { guard, server } = await guarded(test)
    const error = new Error('seen')
    await rejection(
      guard.trace('by hand', (trace) => {
        trace.fail(error)
        throw error
      }),
    )
    assert.equal(exceptions(server.run()).length, 1)
  })
})
