import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { systemClock } from 'guard-gateway/core'
import { webhook } from 'guard-gateway/plugins/notifiers/webhook'
import { aNotification, connected, fakeProvider, notifierConforms, type ReceivedRequest } from 'guard-gateway/test'
import { Webhook } from 'standardwebhooks'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const older = `whsec_${Buffer.alloc(24, 9).toString('base64')}`

notifierConforms(webhook, { http: (url) => ({ url: `${url}/hook?key=hidden`, secret }) })

const headersOf = ({ headers }: ReceivedRequest): Record<string, string> =>
  Object.fromEntries(headers.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), headers[at + 1] ?? '']] : [])))

const sent = async (options: object, more = {}): Promise<ReceivedRequest> => {
  await using receiver = await fakeProvider()
  const target = connected(webhook, { url: receiver.url, secret, ...options }, systemClock)
  assert.deepEqual(await target.send(aNotification(more), new AbortController().signal), { outcome: 'delivered' })
  target.close?.()
  return receiver.last
}

describe('a webhook', () => {
  it('is verified by the library of the standard, and not with another secret or body', async () => {
    const request = await sent({})
    const payload = new Webhook(secret).verify(request.body.toString(), headersOf(request))
    assert.deepEqual(payload, {
      type: 'guard.blocked',
      timestamp: '2026-01-01T00:00:00.000Z',
      data: {
        id: 'ntf_1',
        event: 'blocked',
        subject: 'ses_1',
        text: 'A request of session ses_1 was blocked.',
        url: 'http://127.0.0.1:8787/sessions/ses_1',
        project_id: 'shop',
        count: 1,
      },
    })
    assert.throws(() => new Webhook(older).verify(request.body.toString(), headersOf(request)))
    assert.throws(() => new Webhook(secret).verify(`${request.body} `, headersOf(request)))
  })
  it('is verified whatever it says', async () => {
    const request = await sent({}, { text: '"} \u2028 😀 é <!channel>', project_id: null })
    const { data } = new Webhook(secret).verify(request.body.toString(), headersOf(request)) as {
      readonly data: { readonly text: string }
    }
    assert.equal(data.text, '"} \u2028 😀 é <!channel>')
  })
  it('is verified by either secret while they change', async () => {
    const request = await sent({ previous_secret: older })
    for (const one of [secret, older])
      assert.ok(new Webhook(one).verify(request.body.toString(), headersOf(request)), one)
  })
  it('bears the same id at each attempt', async () => {
    const [one, other] = [await sent({}), await sent({})]
    assert.equal(headersOf(one)['webhook-id'], 'ntf_1')
    assert.equal(headersOf(other)['webhook-id'], 'ntf_1')
  })
  it('is refused without a secret of the standard, which is not shown', () => {
    for (const odd of ['hunter2hunter2', 'whsec_', `whsec_${Buffer.alloc(23).toString('base64')}`, 'whsec_%%%%'])
      assert.throws(
        () => connected(webhook, { url: 'http://127.0.0.1:9', secret: odd }),
        (error: Error) =>
          error instanceof TypeError &&
          /^secret is whsec_/.test(error.message) &&
          !error.message.includes(odd.slice(6) || '∅'),
      )
  })
  it('is refused at an address that is none, or with a password in it', () => {
    for (const url of ['hooks.example', 'ftp://hooks.example', 'http://me:secret@hooks.example'])
      assert.throws(() => connected(webhook, { url, secret }), TypeError)
  })
})
