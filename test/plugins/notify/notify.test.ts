import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Gateway, GuardError } from 'guard-gateway/core'
import { jsonObjectOf } from '#lib/json'
import { notifier, notifierKind } from '#lib/notifier'
import { KeptNotifier, rested, startNotify } from './kit.ts'

describe('receivers', () => {
  it('have secrets, which nothing shows from then on', async (test) => {
    const secretive = notifier({
      id: 'secretive',
      schema: { type: 'object' },
      secrets: ['token', 'other'],
      connect: () => ({ label: 'secretive', send: async () => ({ outcome: 'delivered' }) }),
    })
    const receivers = { pager: { notifier: 'secretive', token: 'tok-0123456789', label: 'lab-0123456789', other: 5 } }
    const { gateway } = await startNotify(test, { receivers }, [secretive])
    assert.deepEqual(
      ['tok-0123456789', 'lab-0123456789', '5', ''].map((text) => gateway.secrets.holds(text)),
      [true, false, false, false],
    )
  })
  it('that cannot be used are told with their place, and no secret', async (test) => {
    const wrong = notifier({
      id: 'wrong',
      schema: { type: 'object' },
      secrets: ['token'],
      connect: ({ token }) => {
        throw new TypeError(`${token} is too short`)
      },
    })
    const receivers = { pager: { notifier: 'wrong', token: 'tok-0123456789' } }
    await assert.rejects(startNotify(test, { receivers }, [wrong]), (error: Error) => {
      assert.match(error.message, /^notify\.receivers\.pager: .*is too short\.$/)
      assert.doesNotMatch(error.message, /tok-/)
      return (error as GuardError).code === 'INVALID_CONFIG'
    })
  })
})

describe('rules', () => {
  it('say which event of which project goes to whom, the first that matches deciding', async (test) => {
    const other = new KeptNotifier('other')
    const { tell, kept } = await startNotify(
      test,
      {
        receivers: { team: { notifier: 'kept' }, pager: { notifier: 'other' } },
        rules: [
          { events: ['paused', 'approval_waiting'], projects: ['shop'] },
          { events: ['storage_failing', 'paused'], to: ['pager'] },
        ],
      },
      [other.plugin],
    )
    tell({ event: 'paused', text: 'shop' })
    tell({ event: 'paused', text: 'elsewhere', project_id: 'other' })
    tell({ event: 'storage_failing', text: 'disk', project_id: null })
    tell({ event: 'blocked', text: 'nobody' })
    await rested()
    assert.deepEqual(kept.texts, ['shop'])
    assert.deepEqual(other.texts, ['shop', 'elsewhere', 'disk'])
  })
  it('let one message about the same pass in their time, and then one that counts the others', async (test) => {
    const { tell, kept, pass } = await startNotify(test, { rules: [{ every_minutes: 10 }] })
    for (let one = 1; one <= 5; one++) tell({ text: `number ${one}` })
    tell({ subject: 'ses_2', text: 'another' })
    await rested()
    assert.deepEqual(kept.texts, ['number 1', 'another'])
    await pass(600_000 - 1)
    assert.equal(kept.sent.length, 2)
    await pass(1)
    assert.deepEqual(kept.texts.slice(2), ['4 like it since 00:00 UTC, the last: number 5'])
    assert.equal(kept.sent.at(-1)?.count, 4)
    await pass(600_000)
    assert.equal(kept.sent.length, 3)
    tell({ text: 'anew' })
    await rested()
    assert.equal(kept.texts.at(-1), 'anew')
  })
  it('put a storm of many subjects together, and lose none of it', async (test) => {
    const { tell, kept, pass, gateway } = await startNotify(test)
    for (let one = 0; one < 900; one++) tell({ subject: `ses_${one}` })
    for (let turn = 0; turn < 5; turn++) await rested()
    assert.equal(kept.sent.length, 20)
    assert.equal(jsonObjectOf(gateway.health.get('notify')?.()).held, 880)
    await pass(300_000)
    assert.equal(kept.sent.length, 21)
    assert.equal(
      kept.sent.reduce((sum, { count }) => sum + count, 0),
      900,
    )
  })
  it('count what comes too fast to be looked at', async (test) => {
    const { tell, gateway } = await startNotify(test)
    for (let one = 0; one < 1_500; one++) tell()
    assert.equal(jsonObjectOf(gateway.health.get('notify')?.()).overrun, 500)
  })
})

describe('what a message says', () => {
  it('is redacted, on one line and cut', async (test) => {
    const { tell, kept, gateway } = await startNotify(test)
    gateway.secrets.add('hidden-word-of-the-config')
    const text = `a tool named "x\r\nX-Evil: 1\u001b[31m\u202e" said hidden-word-of-the-config ${'y'.repeat(9_000)}`
    tell({ text, subject: text, project_id: text, path: `/sessions/a?b=${text}`, event: 'odd\r\nname' })
    await rested()
    const [sent] = kept.sent
    assert.ok(sent)
    assert.doesNotMatch(JSON.stringify(sent), /hidden-word|\\r|\\n|\\u001b|\u202e/)
    assert.ok(sent.text.length <= 400, String(sent.text.length))
    assert.equal(sent.event, 'odd__name')
    assert.match(sent.url, /^https:\/\/guard\.example\/sessions\/a\?b=/)
  })
  it('links nowhere else', async (test) => {
    const { tell, kept } = await startNotify(test)
    for (const path of ['https://evil.example/', '//evil.example/', 'javascript:alert(1)', '@evil.example'])
      tell({ path, subject: path })
    await rested()
    for (const { url } of kept.sent) assert.equal(new URL(url).origin, 'https://guard.example')
  })
  it('links to the address that the gateway listens at, unless another is configured', async (test) => {
    const { gateway, tell, kept } = await startNotify(test, { base_url: '' })
    gateway.hooks.listen.call('http://127.0.0.1:8787')
    tell()
    await rested()
    assert.equal(kept.sent[0]?.url, 'http://127.0.0.1:8787/sessions/ses_1')
  })
})

describe('notices without a receiver', () => {
  it('are not prepared while requests wait', async (test) => {
    const { gateway, tell } = await startNotify(test, { receivers: {} })
    const redacted = test.mock.method(gateway.redact, 'text')
    tell({ text: 'A request was blocked.' })
    await rested()
    assert.equal(redacted.mock.callCount(), 0)
  })
})

describe('a receiver that cannot be used', () => {
  it('stops the start, with its place', async (test) => {
    const broken = new KeptNotifier('broken')
    Object.assign(broken.plugin, {
      apply: (gateway: Gateway) =>
        gateway.registry(notifierKind).add({
          id: 'broken',
          schema: {},
          connect: () => {
            throw new TypeError('token is too short')
          },
        }),
    })
    await assert.rejects(
      startNotify(test, { receivers: { pager: { notifier: 'broken' } } }, [broken.plugin]),
      (error: GuardError) =>
        error instanceof GuardError &&
        error.code === 'INVALID_CONFIG' &&
        error.message === 'notify.receivers.pager: token is too short.',
    )
  })
})
