import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Started, startGateway, startService } from 'guard-gateway/test'
import { dialectOf, looping } from '../../../kit.ts'

let started: Started
before(async () => {
  started = await startGateway()
  const run = await started.request('POST', '/api/v1/playground/runs', { scenario: 'exact-loop', mode: 'enforce' })
  const { id } = run.json as { readonly id: string }
  for (;;) {
    const { json } = await started.request('GET', `/api/v1/playground/runs/${id}`)
    if ((json as { readonly ended_at: string | null }).ended_at !== null) break
  }
})
after(() => started.close())

const page = async (path: string): Promise<string> => {
  const answer = await fetch(started.url + path, { headers: { accept: 'text/html' } })
  assert.equal(answer.status, 200, path)
  return answer.text()
}

const send = (path: string, fields: Readonly<Record<string, string>> = {}) =>
  fetch(started.url + path, {
    method: 'POST',
    body: new URLSearchParams(fields),
    headers: { accept: 'text/html' },
    redirect: 'manual',
  })

const firstId = async (): Promise<string> => {
  const { json } = await started.request('GET', '/api/sessions')
  const [first] = (json as { readonly sessions: readonly { readonly id: string }[] }).sessions
  return first?.id ?? ''
}

test('the list shows what a session used of its budgets, and leads to it', async () => {
  const text = await page('/sessions')
  const id = await firstId()
  assert.match(text, new RegExp(`href="/sessions/${id}"`))
  assert.match(text, /<meter max="50" high="40" optimum="0" value="\d+"/)
  assert.match(text, /of <span title="100,000">100\.0k<\/span>|of <span title="100,000">100k<\/span>/)
  assert.match(text, /\d+ blocked/)
  assert.match(text, /<a href="\/agents\/playground[^"]*">/)
})

test('the list is narrowed by project and state, and says what to do when nothing is there', async () => {
  assert.match(await page('/sessions?project_id=playground-exact-loop'), /id="session-ses_/)
  assert.match(await page('/sessions?project_id=nobody'), /No session matches\. Names and ids are compared whole/)
  assert.match(await page('/sessions?paused=true'), /No session matches/)
  const answer = await fetch(`${started.url}/sessions?paused=perhaps`, { headers: { accept: 'text/html' } })
  assert.equal(answer.status, 400)
  const text = await answer.text()
  assert.match(text, /data-key="s" aria-current="page">Sessions/)
  assert.match(text, /<p><a href="\/sessions">Sessions<\/a> · /, 'the way to the list')
})

test('a session shows each decision with its evidence, and leads to Replay and to the rule', async () => {
  const text = await page(`/sessions/${await firstId()}`)
  assert.match(text, /LOOP_EXACT/)
  assert.match(text, /href="\/policies\/playground-exact-loop#rule-exact_repeat"/)
  assert.match(text, /href="\/replay\/[^"]+\?span=/)
  const missing = await fetch(`${started.url}/sessions/ses_none`, { headers: { accept: 'text/html' } })
  assert.equal(missing.status, 404)
  assert.match(await missing.text(), /<h1>Not found<\/h1>/)
})

test('a session is paused with a reason, resumed and renamed by its forms', async () => {
  const id = await firstId()
  const paused = await send(`/ui/sessions/${id}/pause`, { reason: 'runs <wild>', return_to: `/sessions/${id}` })
  assert.equal(paused.status, 303)
  assert.equal(paused.headers.get('location'), `/sessions/${id}?notice=session-paused`)
  const text = await page(`/sessions/${id}?notice=session-paused`)
  assert.match(text, /Session paused\./)
  assert.match(text, /runs &lt;wild&gt;/)
  assert.match(text, /Resume this session/)
  assert.equal((await send(`/ui/sessions/${id}/resume`)).status, 303)
  const resumed = await page(`/sessions/${id}`)
  assert.match(resumed, /Pause this session/)
  assert.match(resumed, />paused <span class="quiet">runs &lt;wild&gt;</, 'why it was paused stays on record')
  assert.equal((await send(`/ui/sessions/${id}/name`, { name: 'night shift' })).status, 303)
  assert.match(await page('/sessions'), /night shift/)
})

test('a name that is too long comes back with what is wrong', async () => {
  const id = await firstId()
  const answer = await send(`/ui/sessions/${id}/name`, { name: 'x'.repeat(201) })
  assert.equal(answer.status, 422)
  const text = await answer.text()
  assert.match(text, /<a href="#field-name">201 characters are too many/)
  assert.match(text, new RegExp(`value="${'x'.repeat(201)}" aria-invalid="true"`))
})

test('an agent is paused and resumed by its forms; one that is not there is told', async () => {
  assert.equal(
    (await send('/ui/agents/playground/pause')).headers.get('location'),
    '/agents?notice=agent-paused#agent-playground',
  )
  assert.match(await page('/agents?notice=agent-paused'), /Agent paused\.[\s\S]*aria-label="Resume agent playground"/)
  assert.equal((await send('/ui/agents/playground/resume')).status, 303)
  assert.equal((await send('/ui/agents/nobody/pause')).status, 404)
})

test('a page of fifty sessions stays within 64 KiB', async () => {
  const known = await started.gateway.storage.find('sessions', { limit: 1 })
  const [first] = known.rows
  assert.ok(first !== undefined)
  for (let number = 10; number < 60; number++)
    await started.gateway.storage.put('sessions', { ...first, id: `ses_k6eieym4w2cblopvejc7ya${number}`, name: null })
  const text = await page('/sessions')
  assert.equal(text.match(/<tr id="session-/g)?.length, 50)
  assert.ok(Buffer.byteLength(text) < 64 * 1024, String(Buffer.byteLength(text)))
  assert.match(text, /older →/)
})

test('a session can be found, examined and paused while its first request is in progress', async () => {
  await using service = await startService()
  const { promise, resolve } = Promise.withResolvers<void>()
  service.provider.script({ until: promise })
  const arrived = service.provider.next()
  const answer = service.send(dialectOf('messages'), looping(1), { 'x-guard-session-id': 'at work' })
  await arrived
  const seen = async (path: string): Promise<string> => {
    const shown = await fetch(service.gateway.url + path, { headers: { accept: 'text/html' } })
    assert.equal(shown.status, 200, path)
    return shown.text()
  }
  const id = /id="session-(ses_\w+)"/.exec(await seen('/sessions'))?.[1] ?? ''
  const { json } = await service.request('GET', '/api/sessions')
  assert.equal((json as { readonly sessions: readonly { readonly id: string }[] }).sessions[0]?.id, id)
  assert.match(await seen(`/sessions/${id}`), /<h1>at work<\/h1>/)
  for (const path of [`/api/sessions/${id}/events`, `/api/export/sessions/${id}.json`]) {
    const { status, json: empty } = await service.request('GET', path)
    assert.deepEqual([status, (empty as { readonly events: unknown }).events], [200, []], path)
  }
  assert.equal((await service.request('POST', `/api/sessions/${id}/pause`)).status, 200)
  assert.match(await seen('/sessions?paused=true'), new RegExp(`id="session-${id}"`))
  resolve()
  assert.equal((await answer).status, 200, 'what was forwarded before the pause is answered')
  const { json: after } = await service.request('GET', `/api/sessions/${id}`)
  const { session } = after as { readonly session: { readonly requests: number; readonly paused: boolean } }
  assert.deepEqual([session.requests, session.paused], [1, true])
})

test('what waits for a person is on the page of what is in progress, with the reason and the buttons that answer it', async () => {
  await using service = await startService()
  await service.policy({ mode: 'enforce', rules: [{ rule_type: 'tool_repeat', action: 'pause' }] })
  const chat = dialectOf('chat_completions')
  const now = async () => (await service.request('GET', '/', undefined, { accept: 'text/html' })).text
  assert.doesNotMatch(await now(), /id="waiting-/)
  for (const times of [2, 3]) await service.send(chat, looping(times), { 'x-guard-session-id': 'stuck <one>' })
  const { id } = await service.session('stuck <one>')
  const waiting = await now()
  assert.match(waiting, /Needs you \(1\)/)
  assert.match(waiting, /stuck &lt;one&gt;/)
  assert.match(waiting, /tool_repeat: read_file was called 3 times with the same arguments/)
  for (const act of ['resume', 'end']) assert.ok(waiting.includes(`action="/ui/sessions/${id}/${act}"`), act)
  const list = await service.request('GET', '/sessions', undefined, { accept: 'text/html' })
  assert.match(list.text, /paused<\/strong><br><span class="quiet">tool_repeat: read_file/)
  const post = (act: string) =>
    fetch(`${service.gateway.url}/ui/sessions/${id}/${act}`, {
      method: 'POST',
      redirect: 'manual',
      body: '',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
  assert.equal((await post('end')).status, 303)
  assert.doesNotMatch(await now(), /id="waiting-/)
  const ended = await service.request('GET', `/sessions/${id}`, undefined, { accept: 'text/html' })
  assert.match(ended.text, /■<\/span> ended/)
  assert.match(ended.text, /Resume this session/)
  assert.doesNotMatch(ended.text, /End this session/)
  assert.equal((await post('resume')).status, 303)
  assert.equal((await service.session(id)).paused, false)
})

/** Two pauses of one millisecond are one. */
const nextMillisecond = async (): Promise<void> => {
  const now = Date.now()
  while (Date.now() === now) await new Promise(setImmediate)
}

test('a form that shows another state than there is lets nothing continue; to pause twice harms nobody', async () => {
  const { sessions } = (await (await fetch(`${started.url}/api/sessions`)).json()) as {
    readonly sessions: readonly { readonly id: string }[]
  }
  const id = sessions[0]?.id ?? ''
  const shown = async (form: string) => {
    const [, rest = ''] = (await page(`/sessions/${id}`)).split(`action="/ui/sessions/${id}/${form}"`)
    return /name="shown" value="([^"]+)"/.exec(rest)?.[1] ?? ''
  }
  const asOpen = { shown: await shown('pause') }
  assert.equal(asOpen.shown, 'open')
  assert.equal((await send(`/ui/sessions/${id}/pause`, asOpen)).status, 303)
  assert.equal((await send(`/ui/sessions/${id}/pause`, asOpen)).status, 303)
  // "Reset loop rules" of a page that still shows it as open
  const late = await send(`/ui/sessions/${id}/resume`, asOpen)
  assert.equal(late.status, 409)
  assert.match(
    await late.text(),
    /Session \S+ is paused since <time[^>]+>[^<]+<\/time>; the page showed it as open\. Nothing is changed/,
  )
  const first = { shown: await shown('resume') }
  assert.match(first.shown, /^paused \d+$/)
  assert.equal((await send(`/ui/sessions/${id}/resume`, first)).status, 303)
  assert.equal((await send(`/ui/sessions/${id}/end`, first)).status, 409, 'it works again')
  await nextMillisecond()
  assert.equal((await send(`/ui/sessions/${id}/pause`)).status, 303)
  assert.equal((await send(`/ui/sessions/${id}/resume`, first)).status, 409, 'that pause is another one')
  assert.equal((await send(`/ui/sessions/${id}/end`, { shown: await shown('end') })).status, 303)
  assert.equal((await send(`/ui/sessions/${id}/resume`, { shown: '<b>9' })).status, 409)
  assert.equal((await send(`/ui/sessions/${id}/resume`, { shown: await shown('resume') })).status, 303)
})

test('a form that shows an agent as paused resumes no later pause of it', async () => {
  await send('/ui/agents/playground/pause')
  const value = /formaction="\/ui\/agents\/playground\/resume" name="shown" value="(paused \d+)"/
  const shown = value.exec(await page('/agents'))?.[1] ?? ''
  assert.equal((await send('/ui/agents/playground/resume', { shown })).status, 303)
  await nextMillisecond()
  await send('/ui/agents/playground/pause')
  assert.equal((await send('/ui/agents/playground/resume', { shown })).status, 409)
  assert.equal((await send('/ui/agents/playground/resume')).status, 303)
})
