import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, describe, it } from 'node:test'
import type { Plugin } from 'guard-gateway/core'
import { type Started, startGateway, startService } from 'guard-gateway/test'
import { html } from '#lib/html'
import { panelKind } from '#lib/page'
import { startMcp } from '../../kit/mcp.ts'
import { dialectOf, looping } from '../../kit.ts'

const accept = { accept: 'text/html' }

const pageAt = async (url: string): Promise<string> => {
  const answer = await fetch(`${url}/`, { headers: accept })
  assert.equal(answer.status, 200)
  const text = await answer.text()
  assert.doesNotMatch(text, /<style|\sstyle=|<script>|\son\w+="/)
  return text
}

const textOf = (markup: string): string => markup.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')

/** A panel that tells, one that has nothing to tell, one that breaks. */
const panels: Plugin = {
  name: 'panels',
  apply(gateway) {
    gateway
      .registry(panelKind)
      .add({ id: 'weather', order: 1, render: async () => html`<h2>Weather</h2><p>${'<fine>'}</p>` })
    gateway.registry(panelKind).add({ id: 'silent', order: 2, render: async () => undefined })
    gateway.registry(panelKind).add({
      id: 'broken',
      order: 3,
      render: async () => {
        throw new Error('no panel today')
      },
    })
  },
}

describe('the start page', () => {
  let started: Started
  afterEach(() => started.close())

  it('shows next steps before the first request, and the panels of features', async () => {
    const faults: string[] = []
    started = await startGateway({
      plugins: [
        panels,
        {
          name: 'listener',
          apply: (gateway) => gateway.hooks.fault.tap('listener', (_error, where) => void faults.push(where)),
        },
      ],
    })
    const text = await pageAt(started.url)
    assert.match(text, /<h1>Now<\/h1><p><strong>shadow<\/strong>/)
    assert.match(text, /aria-current="page">Now</)
    assert.match(text, /<section><h2>Weather<\/h2><p>&lt;fine&gt;<\/p><\/section>/)
    assert.match(text, new RegExp(`curl ${started.url}/v1/chat/completions`))
    assert.match(text, /guard playground run exact-loop/)
    assert.match(text, /<a href="\/playground">/)
    assert.match(textOf(text), /Requests under way None at this moment/)
    assert.deepEqual(faults, ['panel:broken'])
    assert.doesNotMatch(text, /Flagged and|Sessions of|Needs you|loops cost/)
  })

  it('answers HEAD / for agents that probe', async () => {
    started = await startGateway()
    const answer = await fetch(started.url, { method: 'HEAD' })
    assert.match(answer.headers.get('content-type') ?? '', /^text\/plain/)
  })
})

describe('the start page’s requests', () => {
  let service: Awaited<ReturnType<typeof startService>>
  before(async () => {
    service = await startService({
      upstreams: (url) =>
        `[{ name: near, base_url: "${url}", styles: [messages] }, { name: idle, base_url: "${url}", styles: [responses] }]`,
    })
  })
  after(() => service[Symbol.asyncDispose]())
  const dialect = dialectOf('messages')

  it('are listed with their session while in flight', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    service.provider.script({ until: promise })
    const arrived = service.provider.next()
    const answer = service.send(dialect, looping(1), { 'x-guard-session-id': 'at work' })
    await arrived
    const during = await pageAt(service.gateway.url)
    assert.match(during, /<h2 data-unfinished>Requests under way \(1\)/)
    const row = textOf(/<tr id="guardreq_[\s\S]*?<\/tr>/.exec(during)?.[0] ?? '')
    assert.match(row, / m-1 at work default near [\d.]+ (?:ns|µs|ms|s) waits/)
    assert.match(during, /Sessions of the last 15 minutes \(1\)/)
    assert.match(during, /formaction="\/ui\/sessions\/ses_[^"]+\/pause"/)
    resolve()
    assert.equal((await answer).status, 200)
    assert.match(await pageAt(service.gateway.url), /None at this moment/)
  })

  it('that were flagged are one line a session and reason, before the others, with what they cost and the way to stop them', async () => {
    for (let turn = 0; turn < 4; turn++)
      await service.send(dialect, looping(1), { 'x-guard-session-id': 'looping', 'x-guard-project-id': 'loops' })
    const text = await pageAt(service.gateway.url)
    const order = ['Needs you (1)', 'What loops cost', 'Most expensive', '<h2 id="flagged"', 'Spend', 'Latest requests']
    const places = order.map((words) => text.indexOf(words))
    assert.deepEqual(
      places,
      places.toSorted((one, other) => one - other),
      String(places),
    )
    assert.ok(!places.includes(-1), String(places))
    const [need = ''] = /<li class="need" id="loop-[\s\S]*?<\/li>/.exec(text) ?? []
    assert.match(
      textOf(need),
      /▲ loop looping · loops \d identical requests in the last \d+ · flagged × 2 · 50 tokens since it was flagged/,
    )
    assert.match(need, /action="\/ui\/sessions\/ses_\w+\/pause"/)
    assert.match(need, /<a href="\/replay\/[0-9a-f]+\?span=[0-9a-f]+#span-[0-9a-f]+">Evidence/)
    assert.equal(text.match(/<tr id="flagged-/g)?.length, 1)
    const [flagged = ''] = /<tr id="flagged-[\s\S]*?<\/tr>/.exec(text) ?? []
    assert.match(textOf(flagged), /looping loops LOOP_EXACT flagged × 2 50 tokens after it/)
    assert.match(flagged, /href="\/policies\/loops#rule-exact_repeat">LOOP_EXACT/)
    assert.match(textOf(text), /would have saved at most 50 tokens in the last 7 days: 2 requests of 1 session/)
    assert.match(text, /href="\/policies\/loops\?try=enforce">Enforce loops…/)
    assert.match(textOf(text), /Today, UTC: 5 requests, 2 flagged/)
  })

  it('lead to the switch, with what the rules in force would have stopped beside it; nothing is saved by looking', async () => {
    const answer = await fetch(`${service.gateway.url}/policies/loops?try=enforce`, { headers: accept })
    const text = await answer.text()
    assert.match(text, /Tried on stored traffic[\s\S]*False positives\?[\s\S]*exact_repeat/)
    assert.match(text, /These changes are not saved\./)
    assert.match(text, /value="save">Save and enforce/)
    const { json } = await service.request('GET', '/api/policies/loops')
    assert.notEqual((json as { readonly policy?: { readonly mode: string } }).policy?.mode, 'enforce')
  })

  it('need nobody once the session is paused as a loop, nor once it is reset', async () => {
    const { id } = await service.session('looping')
    await service.request('POST', `/api/sessions/${id}/pause`, { reason: 'runs in circles' })
    const paused = await pageAt(service.gateway.url)
    assert.doesNotMatch(paused, /id="loop-ses_/)
    assert.match(textOf(paused), /Needs you \(1\) ■ paused looping · loops runs in circles/)
    await service.request('POST', `/api/sessions/${id}/resume`)
    assert.doesNotMatch(await pageAt(service.gateway.url), /Needs you/)
  })

  it('are counted once per upstream, with its state', async () => {
    const rowOf = async (name: string): Promise<string> => {
      const [, row = ''] = (await pageAt(service.gateway.url)).split(`<tr id="upstream-${name}">`)
      return textOf(row.slice(0, row.indexOf('</tr>')))
    }
    const before = await rowOf('near')
    assert.match(before, /near ✓ answers .* 5 today /)
    assert.match(await rowOf('idle'), /idle not asked lately 0 this hour 0 today/)
    service.provider.script({ status: 500, body: '{}' })
    await service.send(dialect, looping(2))
    assert.match(await rowOf('near'), /near ✕ errors .* 6 today 1 failed/)
    const page = textOf(await pageAt(service.gateway.url))
    for (const mode of ['shadow', 'enforce'])
      await service.request('POST', '/api/demo/run', { scenario: 'exact-loop', mode })
    assert.equal(await rowOf('playground'), '')
    const parts = (text: string) => /Today, UTC: [^.]*|What loops cost .* Spend/.exec(text)?.[0]
    const after = textOf(await pageAt(service.gateway.url))
    assert.deepEqual(parts(after), parts(page), 'the Playground is in no sum')
    assert.doesNotMatch(after, /playground/, 'nor in any list')
  })
})

describe('the start page’s recent sessions', () => {
  it('are the same after a restart, for any reader', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'guard-now-'))
    const start = () => startGateway({ folder, backend: 'sqlite', upstream: 'http://127.0.0.1:9' })
    const told = async ({ url }: Started) => {
      const text = await pageAt(url)
      return [/Sessions of the last 15 minutes \((.+?)\)/.exec(text)?.[1], text.match(/id="session-ses_/g)?.length]
    }
    const first = await start()
    const body = { model: 'm', max_tokens: 8, messages: [{ role: 'user', content: 'hello' }] }
    for (const id of ['one', 'two']) await first.request('POST', '/v1/messages', body, { 'x-guard-session-id': id })
    await first.request('POST', '/api/demo/run', { scenario: 'exact-loop' })
    assert.deepEqual(await told(first), ['2', 2])
    await first.close()
    const second = await start()
    assert.deepEqual(await told(second), ['2', 2])
    const { json } = await second.request('GET', '/api/sessions')
    const { sessions } = json as { readonly sessions: readonly { readonly id: string }[] }
    await second.request('GET', `/api/sessions/${sessions[0]?.id}`)
    assert.deepEqual(await told(second), ['2', 2])
    await second.close()
    await rm(folder, { recursive: true, force: true })
  })
})

describe('the start page’s tool calls', () => {
  it('list pending approvals first, with their buttons, then denied calls', async () => {
    await using service = await startMcp({
      policy: `version: 1
default: allow
rules:
  - { id: no-delete, tools: [delete_file], action: deny }
  - { id: ask, tools: [write_file], action: confirm }
`,
    })
    const client = await service.session()
    await client.call('delete_file', { path: 'a' })
    await client.call('write_file', { path: 'b' })
    const text = await pageAt(service.gateway.url)
    assert.ok(text.indexOf('Needs you (1)') < text.indexOf('Requests under way'))
    assert.match(text, /Tool calls that were not simply allowed[\s\S]*no-delete/)
    assert.match(textOf(text), /\? approve write_file on up path b /)
    const id = /action="\/ui\/approvals\/(apr_[^"]+)"/.exec(text)?.[1]
    const answer = await fetch(`${service.gateway.url}/ui/approvals/${id}`, {
      method: 'POST',
      body: new URLSearchParams({ action: 'deny', return_to: '/' }),
      headers: accept,
      redirect: 'manual',
    })
    assert.match(answer.headers.get('location') ?? '', /^\/\?notice=approval-denied&about=apr_\w+$/)
    assert.doesNotMatch(await pageAt(service.gateway.url), /Needs you/)
  })
})
