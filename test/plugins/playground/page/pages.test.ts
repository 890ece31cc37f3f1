import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Started, startGateway } from 'guard-gateway/test'

let started: Started
before(async () => {
  started = await startGateway()
})
after(() => started.close())

const accept = { accept: 'text/html' }

const page = async (path: string): Promise<string> => {
  const answer = await fetch(started.url + path, { headers: accept })
  assert.equal(answer.status, 200, path)
  return answer.text()
}

const send = (path: string, fields: Readonly<Record<string, string>>) =>
  fetch(started.url + path, { method: 'POST', body: new URLSearchParams(fields), headers: accept, redirect: 'manual' })

/** Starts a run by the form, and gives the path of its page. */
const run = async (fields: Readonly<Record<string, string>>): Promise<string> => {
  const answer = await send('/ui/playground/runs', fields)
  assert.equal(answer.status, 303)
  return answer.headers.get('location') ?? ''
}

const ended = async (path: string): Promise<string> => {
  for (;;) {
    const text = await page(path)
    if (!text.includes('data-unfinished')) return text
  }
}

test('every scenario has a row with what it shows and a button that runs it', async () => {
  const text = await page('/playground')
  const { json } = await started.request('GET', '/api/v1/playground/scenarios')
  const { scenarios } = json as { readonly scenarios: readonly { readonly id: string; readonly kind: string }[] }
  assert.ok(scenarios.length > 5)
  for (const { id } of scenarios) assert.match(text, new RegExp(`name="scenario" value="${id}"`))
})

test('a run shows each step with what was expected of it and what came, and leads to Replay', async () => {
  const path = await run({ scenario: 'exact-loop', mode: 'enforce' })
  assert.match(path, /^\/playground\/runs\/play_/)
  const text = await ended(path)
  assert.match(text, /as expected/)
  assert.match(text, /<span class="error status">block<\/span> LOOP_EXACT/)
  assert.match(text, /href="\/replay\/[^"]+\?span=/)
  assert.match(text, /href="\/policies\/playground-exact-loop"/)
  assert.doesNotMatch(text, /missed:/)
  assert.match(await page('/playground'), new RegExp(`href="${path}"`))
})

test('a run in shadow flags and forwards', async () => {
  const text = await ended(await run({ scenario: 'exact-loop', mode: 'shadow' }))
  assert.match(text, /<span class="warning status">shadow_flag<\/span> LOOP_EXACT/)
})

test('a run in progress asks again by itself without script, shows what is to come, and can be cancelled', async () => {
  const path = await run({ scenario: 'exact-loop', mode: 'enforce', watch: 'on' })
  const text = await page(path)
  assert.match(text, /<noscript><meta http-equiv="refresh" content="1"><\/noscript>/)
  assert.match(text, /<td>waits<\/td>/)
  const answer = await send(`/ui${path}/cancel`, {})
  assert.equal(answer.headers.get('location'), `${path}?notice=run-cancelled`)
  assert.match(await page(path), /cancelled/)
})

test('what cannot be run is told', async () => {
  assert.equal((await send('/ui/playground/runs', { scenario: 'nothing', mode: 'shadow' })).status, 404)
  const mode = await send('/ui/playground/runs', { scenario: 'exact-loop', mode: 'fierce' })
  assert.equal(mode.status, 422)
  assert.match(await mode.text(), /The mode of a run is shadow or enforce\./)
  const answer = await fetch(`${started.url}/playground/runs/play_none`, { headers: accept })
  assert.equal(answer.status, 404)
})

test('a run says whose rules it is judged by, and an enforced one leads to those for agents of one’s own', async () => {
  const enforced = await ended(await run({ scenario: 'exact-loop', mode: 'enforce' }))
  assert.match(enforced, /judged by the rules of the preset <code>default<\/code>, in its own project/)
  const [, way = ''] = /href="([^"]+)">look at enforce-recommended</.exec(enforced) ?? []
  const offered = await page(way)
  assert.match(offered, /<option value="enforce" selected>/)
  assert.match(offered, /These changes are not saved\./)
  assert.match(offered, /id="rule-novelty_stall"/)
  const shadow = await ended(await run({ scenario: 'flag-only', mode: 'shadow' }))
  assert.match(shadow, /judged by a rule of its own/)
  assert.doesNotMatch(shadow, /look at enforce-recommended/)
})
