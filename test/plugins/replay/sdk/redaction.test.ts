import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Attributes } from 'guard-gateway/sdk'
import { named } from '../../../kit/ingest.ts'
import { guarded } from '../../../kit/sdk.ts'

const TOKEN = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`
const KEY = 'guard_gateway_key_of_this_test'

describe('sent data', () => {
  it('contains no secret, in any field', async (test) => {
    const { guard, server } = await guarded(test, { key: KEY })
    for (const secret of [TOKEN, KEY]) {
      await assert.rejects(
        guard.trace(
          `trace ${secret}`,
          {
            taskId: secret,
            sessionId: secret,
            agent: secret,
            tags: [`tag-${secret}`],
            attributes: { [secret]: secret },
          },
          (trace) => {
            trace.artifact({ path: `/home/${secret}`, mimeType: secret, attributes: { a: [{ b: secret }] } })
            trace.status('ok', `status ${secret}`)
            guard.span(`span ${secret}`, { password: 'swordfish', deep: { [secret]: [secret] } }, (span) => {
              span.event(`event ${secret}`, { text: `see ${secret}.` })
              span.status('ok', `message ${secret}`)
            })
            throw Object.assign(new Error(`thrown ${secret}`), { code: secret })
          },
        ),
      )
    }
    await guard.flush()
    assert.equal(server.runs.size, 2)
    for (const { text } of server.requests) {
      for (const secret of [TOKEN, KEY, 'swordfish']) assert.ok(!text.includes(secret), `${secret} was sent`)
      assert.match(text, /trace \[REDACTED:/)
    }
  })

  it('passes the mask leaf by leaf, after the built-in redaction, with the path of each', async (test) => {
    const seen: string[] = []
    const { guard, server } = await guarded(test, {
      mask: (value, path) => {
        seen.push(`${path.join('.')}=${value}`)
        return value === 'mine' ? '***' : value
      },
    })
    await guard.trace('job', (trace) => trace.set({ token: TOKEN, list: ['mine', 7, null] }))
    await guard.flush()
    assert.deepEqual(server.run().fields.attributes, { token: '[REDACTED:name]', list: ['***', 7, null] })
    assert.ok(seen.includes('name=job'))
    assert.ok(seen.includes('attributes.token=[REDACTED:name]'))
    assert.ok(seen.includes('attributes.list.0=mine'))
    assert.ok(seen.includes('span.attributes.list.2=null'))
  })

  it('is redacted if the mask throws or returns a promise or nothing', async (test) => {
    const results: Record<string, () => unknown> = {
      throws: () => {
        throw new Error('mask is broken')
      },
      promise: () => Promise.reject(new Error('mask is asynchronous')),
      nothing: () => undefined,
      object: () => ({ raw: 'private' }),
      text: () => 'shown',
    }
    const { guard, server, codes } = await guarded(test, {
      mask: (value, path) => {
        const result = results[String(path.at(-1))]
        return result === undefined ? value : (result() as string)
      },
    })
    await guard.trace('job', (trace) => {
      for (const name of Object.keys(results)) trace.set({ [name]: 'private' })
    })
    await guard.flush()
    const hidden = '[REDACTED]'
    assert.deepEqual(server.run().fields.attributes, {
      throws: hidden,
      promise: hidden,
      nothing: hidden,
      object: hidden,
      text: 'shown',
    })
    assert.ok(!server.requests[0]?.text.includes('private'))
    assert.ok(codes().every((code) => code === 'MASK_FAILED'))
  })

  it('is within the limits of the gateway, and well-formed', async (test) => {
    const { guard, server, errors } = await guarded(test)
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`key ${index}`, index]))
    const circle: Record<string, unknown> = {}
    circle.self = circle
    await guard.trace('n'.repeat(500), (trace) => {
      guard.span('', many, (span) => span.status('ok', 'm'.repeat(3_000)))
      guard.span('long', { text: 'word '.repeat(20_000), ['k'.repeat(400)]: 1, broken: 'a\ud800\0b' }, () => {})
      guard.span('odd', odd(circle), () => {})
      guard.span('heavy', Object.fromEntries([...'abcdefghijkl'].map((name) => [name, 'x '.repeat(4_000)])), () => {})
      trace.artifact({ path: 'p'.repeat(5_000) })
      trace.tag('t'.repeat(100), ' ', ...Array.from({ length: 80 }, (_, index) => `tag ${index}`))
      throwInto(() => trace.fail(Object.assign(new Error('deep'), { stack: 'at line\n'.repeat(1_000) })))
    })
    await guard.flush()
    assert.deepEqual(errors, [])
    const { fields, spans, events, artifacts } = server.run()
    assert.equal(fields.name?.length, 256)
    const unnamed = named(spans, 'unnamed')
    assert.equal(unnamed.status_message?.length, 2_000)
    assert.equal(Object.keys(unnamed.attributes ?? {}).length, 256)
    assert.equal(unnamed.attributes?.['sdk.dropped_attributes'], 45)
    const long = named(spans, 'long').attributes ?? {}
    assert.equal(String(long.text).length, 8_192)
    assert.ok(Object.keys(long).includes('k'.repeat(256)))
    assert.equal(long.broken, 'a\ufffd\ufffdb')
    const heavy = named(spans, 'heavy').attributes ?? {}
    assert.equal(heavy['sdk.dropped_attributes'], 5)
    assert.equal(Object.keys(heavy).length, 8)
    assert.equal([...artifacts.values()][0]?.path.length, 4_096)
    assert.equal(fields.tags?.length, 64)
    assert.equal(fields.tags?.[0]?.length, 64)
    assert.equal(String(named(events, 'exception').attributes?.['exception.stacktrace']).length, 4_000)
    const { circle: spiral, ...rest } = named(spans, 'odd').attributes ?? {}
    assert.match(JSON.stringify(spiral), /^(?:\{"self":){30}"\[too deep\]"\}+$/)
    assert.deepEqual(rest, {
      nan: 'NaN',
      big: '123456789012345678901234567890',
      small: 7,
      date: '2026-01-01T00:00:00.000Z',
      bytes: '[3 bytes]',
      map: { a: 1 },
      set: [1, 2],
      error: { name: 'TypeError', message: 'wrong' },
      holes: [1, null],
      getter: '[unreadable]',
      inner: '[unreadable]',
    })
  })

  it('is a copy, unaffected by later changes of the objects', async (test) => {
    const { guard, server } = await guarded(test)
    await guard.trace('job', (trace) => {
      const list = [1]
      trace.set({ list })
      list.push(2)
    })
    await guard.flush()
    assert.deepEqual(server.run().fields.attributes, { list: [1] })
  })
})

const throwInto = (work: () => void): void => work()

const odd = (circle: object): Attributes =>
  Object.defineProperty(
    {
      nan: Number.NaN,
      big: 123456789012345678901234567890n,
      small: 7n,
      date: new Date(Date.UTC(2026, 0, 1)),
      bytes: new Uint8Array(3),
      map: new Map([['a', 1]]),
      set: new Set([1, 2]),
      error: new TypeError('wrong'),
      holes: [1, undefined],
      left: undefined,
      call: () => 1,
      circle,
      inner: {
        get broken() {
          throw new Error('inner')
        },
      },
    },
    'getter',
    {
      enumerable: true,
      get: () => {
        throw new Error('outer')
      },
    },
  )
