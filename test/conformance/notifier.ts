import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import type { Clock } from 'guard-gateway/core'
import { undici } from 'guard-gateway/plugins/upstream-clients/undici'
import type { Static, TSchema } from 'typebox'
import type { Notification, Notifier, NotifyTarget } from '#lib/notifier'
import { fakeClock } from '../kit/clock.ts'
import { FakeProvider, type Script } from '../kit/provider.ts'

/** Something that takes notifications in a test. */
export interface TestReceiver<Options> {
  readonly options: Options
  /** What came so far, each as the text that it was sent as. */
  messages(): Promise<readonly string[]> | readonly string[]
  close(): Promise<void>
}

/** `http`: the options of a receiver at this address, which the suite plays, misbehaviour included. `start`: another kind of receiver, which the test brings. */
export type NotifierSubject<Options> =
  | { readonly http: (url: string) => Options }
  | { readonly start: () => Promise<TestReceiver<Options>> }

/** A notification as a notifier gets it. */
export const aNotification = (more: Partial<Notification> = {}): Notification => ({
  id: 'ntf_1',
  event: 'blocked',
  subject: 'ses_1',
  text: 'A request of session ses_1 was blocked.',
  path: '/sessions/ses_1',
  url: 'http://127.0.0.1:8787/sessions/ses_1',
  project_id: 'shop',
  at: Date.UTC(2026, 0, 1),
  count: 1,
  ...more,
})

/** Connects a notifier as the gateway does. */
export const connected = <O extends TSchema>(
  notifier: Notifier<O>,
  options: Static<O>,
  clock: Clock = fakeClock(),
): NotifyTarget =>
  notifier.connect(options, { clock, env: () => ({ PATH: process.env.PATH ?? '' }), client: () => undici })

/** What every notifier promises. */
export const notifierConforms = <O extends TSchema>(
  notifier: Notifier<O>,
  subject: NotifierSubject<Static<O>>,
): void => {
  describe(`${notifier.id} as a notifier`, () => {
    let receiver: TestReceiver<Static<O>>
    before(async () => {
      receiver = await ('start' in subject ? subject.start() : httpReceiver(subject.http))
    })
    after(() => receiver.close())
    const send = async (notification: Notification, signal = new AbortController().signal) => {
      const target = connected(notifier, receiver.options)
      try {
        return await target.send(notification, signal)
      } finally {
        target.close?.()
      }
    }

    it('has an id that a configuration can name', () => assert.match(notifier.id, /^[a-z][a-z0-9_]{0,63}$/))
    it('has a schema of plain JSON that takes its options, and refuses what it does not know', () => {
      assert.deepEqual(JSON.parse(JSON.stringify(notifier.schema)), { ...(notifier.schema as object) })
      const accepts = new Ajv2020({ strict: false, logger: false }).compile(notifier.schema)
      assert.ok(accepts(receiver.options), JSON.stringify(accepts.errors))
      assert.ok(!accepts({ ...(receiver.options as object), no_such_option: true }))
      assert.ok(!accepts([]))
    })
    it('names options that there are as secret, and shows none of them', () => {
      const { properties = {} } = notifier.schema as { readonly properties?: object }
      const { label: shown } = connected(notifier, receiver.options)
      assert.ok(shown.length > 0)
      for (const name of notifier.secrets ?? []) {
        assert.ok(Object.hasOwn(properties, name), name)
        const value = (receiver.options as Readonly<Record<string, unknown>>)[name]
        if (typeof value === 'string') assert.ok(!shown.includes(value), name)
      }
    })
    it('delivers what happened, with its page', async () => {
      assert.deepEqual(await send(aNotification()), { outcome: 'delivered' })
      const last = (await receiver.messages()).at(-1) ?? ''
      assert.match(last.replaceAll('\\', ''), /A request of session ses_1 was blocked\./)
      assert.match(last, /127\.0\.0\.1:8787\/sessions\/ses_1/)
    })
    it('delivers any text as one message', async () => {
      const texts = fc
        .string({ unit: 'grapheme', minLength: 1, maxLength: 80 })
        .filter((text) => !/[\p{Cc}]/u.test(text))
      await fc.assert(
        fc.asyncProperty(texts, texts, async (text, project_id) => {
          const { length } = await receiver.messages()
          assert.deepEqual(await send(aNotification({ text, project_id, url: '' })), { outcome: 'delivered' })
          assert.equal((await receiver.messages()).length, length + 1)
        }),
        { numRuns: 20 },
      )
    })
    it('ends when it is told to', async () => {
      const { outcome } = await send(aNotification(), AbortSignal.abort()).catch(() => ({ outcome: 'retryable' }))
      assert.notEqual(outcome, 'rejected')
    })
    if ('http' in subject) misbehaving(notifier, subject.http)
  })
}

const httpReceiver = async <Options>(optionsAt: (url: string) => Options): Promise<TestReceiver<Options>> => {
  const provider = await new FakeProvider().listen()
  return {
    options: optionsAt(provider.url),
    messages: () => provider.requests.map(({ body }) => body.toString()),
    close: () => provider.close(),
  }
}

const misbehaving = <O extends TSchema>(notifier: Notifier<O>, optionsAt: (url: string) => Static<O>): void => {
  const against = async (script: Script, more: Partial<Notification> = {}) => {
    const provider = await new FakeProvider().listen()
    const target = connected(notifier, optionsAt(provider.url))
    try {
      provider.script(script)
      const result = await target.send(aNotification(more), new AbortController().signal)
      return { result, asked: provider.requests.length }
    } finally {
      target.close?.()
      await provider.close()
    }
  }
  for (const status of [408, 429, 500, 503])
    it(`may try again after ${status}`, async () => {
      const { result } = await against({ status, body: 'no' })
      assert.equal(result.outcome, 'retryable')
    })
  it('waits as long as it is asked to', async () => {
    const { result } = await against({ status: 429, headers: { 'retry-after': '7' }, body: '' })
    assert.equal(result.outcome === 'retryable' && result.wait_ms, 7_000)
  })
  for (const status of [400, 404, 410])
    it(`gives up after ${status}`, async () => {
      const { result } = await against({ status, body: 'no_service' })
      assert.equal(result.outcome, 'rejected')
      assert.match(result.outcome === 'rejected' ? result.error : '', new RegExp(`${status}: no_service`))
    })
  it('follows no redirect, wherever it leads', async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      const trap = await new FakeProvider().listen()
      const { result } = await against({ status, headers: { location: `${trap.url}/inside` }, body: '' })
      assert.equal(result.outcome, 'rejected')
      assert.equal(trap.requests.length, 0)
      await trap.close()
    }
  })
  it('may try again where nobody answers, or the answer breaks off', async () => {
    for (const script of [{ reset: true }, { raw: 'no HTTP at all' }])
      assert.equal((await against(script)).result.outcome, 'retryable')
  })
  it('reads no endless answer', async () => {
    const { result } = await against({ status: 200, body: new Uint8Array(1_000_000) })
    assert.equal(result.outcome, 'delivered')
  })
  it('ends when it is told to while it waits for an answer', async () => {
    const provider = await new FakeProvider().listen()
    provider.script({ silent: true })
    const target = connected(notifier, optionsAt(provider.url))
    const stop = new AbortController()
    const sent = target.send(aNotification(), stop.signal)
    await provider.next()
    stop.abort()
    assert.equal((await sent).outcome, 'retryable')
    target.close?.()
    await provider.close()
  })
}
