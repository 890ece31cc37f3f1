import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ntfy } from 'guard-gateway/plugins/notifiers/ntfy'
import { aNotification, connected, fakeProvider, notifierConforms } from 'guard-gateway/test'

notifierConforms(ntfy, { http: (url) => ({ url: `${url}/my-topic`, token: 'tk_hidden', priority: 4 }) })

describe('a message of ntfy', () => {
  it('is published as JSON at the root, with the page to open', async () => {
    await using server = await fakeProvider()
    const target = connected(ntfy, { url: `${server.url}/my-topic`, token: 'tk_0123' })
    await target.send(aNotification({ event: 'approval_waiting' }), new AbortController().signal)
    target.close?.()
    const { method, path, headers, body } = server.last
    assert.deepEqual([method, path], ['POST', '/'])
    assert.deepEqual(JSON.parse(body.toString()), {
      topic: 'my-topic',
      title: 'Guard: approval waiting',
      message: 'A request of session ses_1 was blocked.',
      click: 'http://127.0.0.1:8787/sessions/ses_1',
      priority: 3,
    })
    assert.equal(headers[headers.indexOf('authorization') + 1], 'Bearer tk_0123')
  })
  it('puts nothing of what it says into a header', async () => {
    await using server = await fakeProvider()
    const target = connected(ntfy, { url: `${server.url}/t` })
    const text = 'a name\r\nX-Actions: http, go, https://evil.example'
    await target.send(aNotification({ text, project_id: text, event: text }), new AbortController().signal)
    target.close?.()
    const { headers, body } = server.last
    assert.doesNotMatch(headers.join('\n'), /actions|evil/i)
    assert.equal(JSON.parse(body.toString()).message, text)
  })
  it('is refused without a topic, or with a token that is none', () => {
    for (const url of [
      'https://ntfy.sh',
      'https://ntfy.sh/',
      'https://ntfy.sh/a%20b',
      `https://ntfy.sh/${'a'.repeat(65)}`,
    ])
      assert.throws(() => connected(ntfy, { url }), /topic/)
    assert.throws(() => connected(ntfy, { url: 'https://ntfy.sh/t', token: 'a\nb' }), /token/)
  })
})
