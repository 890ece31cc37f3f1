import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Notice } from 'guard-gateway/core'
import { dialectOf, fakeProvider, type ReceivedRequest, type Service, startService } from 'guard-gateway/test'
import { Webhook } from 'standardwebhooks'
import { startMcp } from '../../kit/mcp.ts'
import { sendJson } from '../../kit/mcp-upstream.ts'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const chat = dialectOf('chat_completions')
const to = (url: string, more = '') =>
  `notify: { receivers: { team: { notifier: webhook, url: "${url}/hook", secret: ${secret} } } ${more} }`

interface Payload {
  readonly type: string
  readonly data: { readonly text: string; readonly url: string; readonly project_id: string | null }
}

/** What a receiver got, verified as its own library does. */
const payloadOf = ({ headers, body }: ReceivedRequest): Payload => {
  const pairs = headers.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), headers[at + 1] ?? '']] : []))
  return new Webhook(secret).verify(body.toString(), Object.fromEntries(pairs)) as Payload
}

const blocking = {
  mode: 'enforce',
  rules: [{ rule_type: 'exact_repeat', threshold: 2, window_size: 5, action: 'block' }],
}

const repeat = async (service: Service, times: number, session = 'mine') => {
  for (let time = 0; time < times; time++)
    await service.send(chat, [{ user: 'the same' }], { 'x-guard-session-id': session })
}

describe('a gateway with a receiver', () => {
  it('tells of a blocked request, signed, with a link that opens its session', async () => {
    await using receiver = await fakeProvider()
    await using service = await startService({ config: to(receiver.url) })
    await service.policy(blocking)
    const next = receiver.next()
    await repeat(service, 3)
    const { type, data } = payloadOf(await next)
    assert.equal(type, 'guard.blocked')
    assert.match(data.text, /^A request of an agent in project "default" was blocked \(LOOP_EXACT\): .*\.$/)
    const { id } = await service.session('mine')
    assert.equal(data.url, `${service.gateway.url}/sessions/${id}`)
    const page = await fetch(data.url, { headers: { accept: 'text/html' } })
    assert.equal(page.status, 200)
  })

  it('tells of a pause, by a rule and by hand, once', async () => {
    await using receiver = await fakeProvider()
    await using service = await startService({ config: to(receiver.url) })
    await service.policy({ ...blocking, rules: [{ ...blocking.rules[0], action: 'pause' }] })
    const next = receiver.next()
    await repeat(service, 4)
    const { type, data } = payloadOf(await next)
    assert.equal(type, 'guard.paused')
    assert.match(data.text, /^A session of project "default" is paused and waits for a person: .*\.$/)
    await service.send(chat, [{ user: 'other' }], { 'x-guard-session-id': 'by-hand' })
    const byHand = receiver.next()
    for (let time = 0; time < 2; time++)
      await service.request('POST', '/api/sessions/by-hand/pause', { reason: 'lunch' })
    assert.match(payloadOf(await byHand).data.text, /: lunch\.$/)
    assert.equal(receiver.requests.length, 2)
  })

  it('tells of a budget at each level', async () => {
    await using receiver = await fakeProvider()
    await using service = await startService({ config: to(receiver.url, ', rules: [{ events: [budget] }]') })
    const budget = { rule_type: 'max_requests', threshold: 4, params: { scope: 'project', per: 'month' } }
    await service.policy({ mode: 'shadow', rules: [budget] })
    for (const percent of [50, 100]) {
      const next = receiver.next()
      for (let time = 0; time < 2; time++) await service.send(chat, [{ user: `${percent} ${time}` }])
      const { data } = payloadOf(await next)
      assert.match(
        data.text,
        new RegExp(`^${percent} % of budget ".*" in project "default" is used: \\d+ % left of 4 `),
      )
      assert.equal(data.url, `${service.gateway.url}/policies/default`)
    }
  })

  it('is not slowed by a receiver that never answers, and says what it does not get', async () => {
    await using receiver = await fakeProvider()
    receiver.script({ silent: true }, { status: 500, body: '' }, { status: 410, body: 'gone' })
    await using service = await startService({ config: to(receiver.url) })
    await service.policy(blocking)
    const next = receiver.next()
    await repeat(service, 3)
    await next
    // each of these is answered while that one hangs
    await repeat(service, 3, 'other')
    const { json } = await service.request('GET', '/api/notify')
    const [shown] = (json as { receivers: { queued: number; target: string }[] }).receivers
    assert.equal(shown?.queued, 2)
    assert.equal(shown?.target, receiver.url)
  })

  it('tries each receiver on demand, and counts in its metrics', async () => {
    await using receiver = await fakeProvider()
    receiver.script({}, { status: 404, body: 'no_service' })
    await using service = await startService({ config: to(receiver.url) })
    const good = await service.request('POST', '/api/notify/test', {})
    assert.deepEqual(good.json, { results: [{ receiver: 'team', outcome: 'delivered', error: null }] })
    assert.equal(payloadOf(receiver.last).type, 'guard.test')
    const bad = await service.request('POST', '/api/notify/test', { receiver: 'team' })
    assert.deepEqual(bad.json, {
      results: [{ receiver: 'team', outcome: 'rejected', error: 'It answered 404: no_service.' }],
    })
    const unknown = await service.request('POST', '/api/notify/test', { receiver: 'tem' })
    assert.match(unknown.text, /There is no receiver \\"tem\\"; there is team\./)
    await service.policy(blocking)
    const next = receiver.next()
    await repeat(service, 3)
    await next
    let metrics = ''
    while (!metrics.includes('guard_notifications_total{receiver="team",outcome="delivered"} 1'))
      metrics = (await service.request('GET', '/metrics')).text
    assert.match(metrics, /guard_notifications_total\{receiver="team",outcome="failed"\} 0/)
  })

  it('shows receivers and what happened on a page, without their secrets', async () => {
    await using receiver = await fakeProvider()
    receiver.script({ status: 403, body: '<b>no</b>' })
    await using service = await startService({ config: to(receiver.url) })
    service.gateway.gateway.hooks.notice.call(hostile)
    await receiver.next()
    const html = { accept: 'text/html' }
    let page = ''
    while (!page.includes('failing')) page = (await service.request('GET', '/notify', undefined, html)).text
    assert.match(page, /It answered 403: &lt;b>no&lt;\/b>|It answered 403: &lt;b&gt;no&lt;\/b&gt;/)
    assert.match(page, /a tool named &lt;script/)
    assert.ok(!page.includes('/hook') && !page.includes(secret))
    const first = (await service.request('GET', '/', undefined, html)).text
    assert.match(first, /href="\/notify">1 receiver<\/a>, 0 delivered, <strong>1 lost/)
    assert.match(
      first,
      /role="alert">notify: failing\. &quot;team&quot; is not reached|role="alert">notify: failing\. "team" is not reached/,
    )
    const sent = await fetch(`${service.gateway.url}/ui/notify/test`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: service.gateway.url },
      body: 'receiver=team',
    })
    assert.equal(sent.status, 303)
    assert.match(sent.headers.get('location') ?? '', /notice=notify-delivered/)
  })
})

const hostile: Notice = {
  event: 'blocked',
  subject: 'x',
  text: 'a tool named <script>alert(1)</script>',
  path: '/',
  project_id: null,
}

describe('a gateway in front of an MCP server', () => {
  it('tells of a call that waits for a person, with a page that decides nothing, and of a tool that changed', async () => {
    await using receiver = await fakeProvider()
    const policy =
      'version: 1\nmode: enforce\ndefault: allow\nrules:\n  - { id: ask, tools: [write_file], action: confirm }\n'
    await using service = await startMcp({ policy, config: to(receiver.url) })
    const client = await service.session()
    await client.request('tools/list', {})
    const next = receiver.next()
    for (let time = 0; time < 2; time++)
      await client.request('tools/call', { name: 'write_file', arguments: { path: 'a' } })
    const { type, data } = payloadOf(await next)
    assert.equal(type, 'guard.approval_waiting')
    assert.equal(data.text, 'A call of tool "write_file" of MCP server "up" waits for a person.')
    const page = await fetch(data.url, { headers: { accept: 'text/html' } })
    assert.match(await page.text(), /write_file/)
    const { json } = await service.gateway.request('GET', '/api/v1/mcp/approvals')
    const [approval] = (json as { approvals: { status: string }[] }).approvals
    assert.equal(approval?.status, 'pending')

    const changed = receiver.next()
    service.upstream.answering = ({ message }, response) =>
      message?.method === 'tools/list' &&
      sendJson(
        response,
        JSON.stringify({
          jsonrpc: '2.0',
          id: message.id,
          result: { tools: [{ name: 'write_file', description: 'Mail it.', inputSchema: { type: 'object' } }] },
        }),
      )
    await client.request('tools/list', {})
    const told = payloadOf(await changed)
    assert.equal(told.type, 'guard.tool_changed')
    assert.equal(
      told.data.text,
      'MCP server "up" has changed: Its tool "write_file" is not what was trusted any more, and waits for a person.',
    )
    assert.equal(receiver.requests.length, 2)
  })
})
