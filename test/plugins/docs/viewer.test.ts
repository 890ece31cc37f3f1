import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Started, startGateway } from '../../kit.ts'

let started: Started
before(async () => {
  started = await startGateway()
})
after(() => started.close())

test('/docs is a document with a policy of its own, which lets it load our files alone', async () => {
  const answer = await fetch(`${started.url}/docs`, { headers: { accept: 'text/html' } })
  const text = await answer.text()
  assert.equal(answer.status, 200)
  const policy = answer.headers.get('content-security-policy') ?? ''
  assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'/)
  assert.doesNotMatch(policy, /https?:|upgrade-insecure|validator/)
  assert.equal(answer.headers.get('cross-origin-opener-policy'), 'same-origin')
  assert.equal(answer.headers.get('x-frame-options'), 'DENY')
  assert.doesNotMatch(text, /https?:\/\//)
  assert.doesNotMatch(text, /<style|<script>|\sstyle=|\son\w+=/)
  for (const [, url = ''] of text.matchAll(/(?:src|href)="([^"]+)"/g)) {
    const file = await fetch(new URL(url, answer.url))
    assert.equal(file.status, 200, url)
    assert.equal(file.headers.get('x-content-type-options'), 'nosniff')
    await file.arrayBuffer()
  }
})

test('the viewer reads the same description, and asks no outside validator', async () => {
  const script = await (await fetch(`${started.url}/docs/static/swagger-initializer.js`)).text()
  assert.match(script, /validatorUrl: (?:null|false)/)
  const [own, shared] = await Promise.all(
    ['/docs/json', '/openapi.json'].map(async (path) => (await started.request('GET', path)).json),
  )
  assert.deepEqual(own, shared)
})

test('the navigation of every page leads there', async () => {
  const text = await (await fetch(`${started.url}/nowhere`, { headers: { accept: 'text/html' } })).text()
  assert.match(text, /<a href="\/docs" data-key="d">Docs<\/a>/)
})

test('pages of other sites read neither', async () => {
  for (const path of ['/docs', '/docs/json', '/openapi.json', '/docs/static/swagger-ui.css']) {
    const { status } = await started.request('GET', path, undefined, { origin: 'https://evil.example' })
    assert.equal(status, 403, path)
  }
})
