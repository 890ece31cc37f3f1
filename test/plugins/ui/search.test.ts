import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Service, startService } from 'guard-gateway/test'
import { searchSourceKind } from '#lib/page'
import { dialectOf, looping } from '../../kit.ts'

let service: Service
let requestId = ''
before(async () => {
  service = await startService()
  const answer = await service.send(dialectOf('messages'), looping(1), {
    'x-guard-session-id': 'task-b',
    'x-guard-agent-id': 'nightly-fixer',
    'x-guard-project-id': 'web',
  })
  requestId = answer.headers.get('x-guard-request-id') ?? ''
  const trace = {
    trace_id: '6f1c0c7e9b2a4d18a3f0c5d2e1b49a77',
    name: 'fix the lamp',
    agent_name: 'lamp-fixer',
    spans: [{ id: '00f067aa0ba902b7', name: 'step' }],
  }
  await service.request('POST', '/api/v1/traces', trace)
})
after(() => service[Symbol.asyncDispose]())

const ask = (text: string) =>
  fetch(`${service.gateway.url}/search?q=${encodeURIComponent(text)}`, {
    headers: { accept: 'text/html' },
    redirect: 'manual',
  })

/** Where the search for a text leads. */
const target = async (text: string): Promise<string> => {
  const answer = await ask(text)
  assert.equal(answer.status, 303, `${text}: ${await answer.text()}`)
  return answer.headers.get('location') ?? ''
}

test('every id that is handed out leads to what it names', async () => {
  const session = await service.session('task-b')
  const [call] = (await service.gateway.gateway.storage.find('calls', { limit: 1 })).rows
  assert.ok(call?.trace_id && call.span_id)
  const span = `/replay/${call.trace_id}?span=${call.span_id}#span-${call.span_id}`
  assert.match(requestId, /^guardreq_/)
  assert.equal(await target(requestId), span)
  assert.equal(await target(requestId.replace('guardreq_', 'evt_')), span)
  assert.equal(await target(call.span_id), span)
  assert.equal(await target(call.trace_id), `/replay/${call.trace_id}`)
  assert.equal(await target(session.id), `/sessions/${session.id}`)
  assert.equal(await target(' task-b '), `/sessions/${session.id}`)
  assert.equal(await target('nightly-fixer'), '/agents/nightly-fixer')
  assert.equal(await target('exact_repeat'), '/policies/default#rule-exact_repeat')
})

test('runs of programs are found by id, its beginning, traceparent, span, name and agent', async () => {
  const run = '/replay/6f1c0c7e9b2a4d18a3f0c5d2e1b49a77'
  assert.equal(await target('6f1c0c7e9b2a4d18a3f0c5d2e1b49a77'), run)
  assert.equal(await target('6f1c0c7e9b'), run)
  assert.equal(await target('00-6f1c0c7e9b2a4d18a3f0c5d2e1b49a77-00f067aa0ba902b7-01'), run)
  assert.equal(await target('00f067aa0ba902b7'), `${run}?span=00f067aa0ba902b7#span-00f067aa0ba902b7`)
  assert.equal(await target('fix the lamp'), run)
  assert.equal(await target('lamp-fixer'), '/agents/lamp-fixer')
})

test('several things of one name are listed by kind', async () => {
  const text = await (await ask('web')).text()
  assert.match(text, /<td>project<\/td><th scope="row"><a href="\/sessions\?project_id=web">/)
  assert.match(text, /<a href="\/replay\?project_id=web">/)
})

test('what is not found is told, with a search for its words', async () => {
  const answer = await ask('<b>nothing</b>')
  assert.equal(answer.status, 200)
  const text = await answer.text()
  assert.match(text, /Nothing has the id or name <code>&lt;b&gt;nothing&lt;\/b&gt;<\/code>/)
  assert.match(text, /<a href="\/replay\?q=%3Cb%3Enothing%3C%2Fb%3E">/)
  assert.equal((await ask('x'.repeat(513))).status, 400)
  assert.match(await (await ask('')).text(), /Whole ids and names are looked for: ids of requests/)
})

test('a source that throws hides nothing that others find', async () => {
  service.gateway.gateway.registry(searchSourceKind).add({
    id: 'broken',
    order: 1,
    takes: 'nothing',
    find: () => Promise.reject(new Error('broken')),
  })
  assert.equal(await target('nightly-fixer'), '/agents/nightly-fixer')
})

test('every page and every error has the field; a page that is not there has its id in it', async () => {
  const answer = await fetch(`${service.gateway.url}/sessions/ses_gone`, { headers: { accept: 'text/html' } })
  const text = await answer.text()
  assert.equal(answer.status, 404)
  assert.match(text, /<form class="find" action="\/search" role="search"/)
  assert.match(text, /<input type="search" name="q" value="ses_gone">/)
})
