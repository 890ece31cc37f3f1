import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { createGuard, type GuardOptions } from 'guard-gateway/sdk'

const HERE = 'http://127.0.0.1:8787'
type Fetch = typeof globalThis.fetch
type Call = readonly [input: Parameters<Fetch>[0], init: Parameters<Fetch>[1]]

/** A guard with a transport that records requests and returns these responses in order. */
const noted = (test: TestContext, answers: readonly Response[] = [], options: GuardOptions = {}) => {
  const calls: Call[] = []
  const sent: string[] = []
  const left = [...answers]
  const faults: Error[] = []
  const guard = createGuard({
    baseUrl: HERE,
    key: 'guard_key_0123456789',
    project: 'demo',
    agent: 'coder',
    sessionId: 'night',
    handleExit: false,
    onError: (error) => faults.push(error),
    fetch: async (input, init) => {
      if (String(input).endsWith('/api/v1/traces')) {
        sent.push(String(init?.body))
        return new Response('{}')
      }
      calls.push([input, init])
      return left.shift() ?? new Response('answer')
    },
    ...options,
  })
  test.after(async () => {
    await guard.close()
    assert.deepEqual(faults, [])
  })
  const headers = (at = 0) => Object.fromEntries(new Headers(calls[at]?.[1]?.headers))
  return { guard, calls, sent, headers }
}

const CONTEXT = { 'x-guard-session-id': 'night', 'x-guard-project-id': 'demo', 'x-guard-agent-id': 'coder' }

describe('guard.fetch', () => {
  it('sends the current span, and never the key', async (test) => {
    const { guard, headers } = noted(test)
    await guard.trace('job', { sessionId: 'own' }, async (trace) => {
      await guard.fetch(`${HERE}/v1/messages`, { method: 'POST', headers: { 'x-api-key': 'theirs' }, body: '{}' })
      assert.deepEqual(headers(), {
        ...CONTEXT,
        'x-api-key': 'theirs',
        'x-guard-session-id': 'own',
        traceparent: `00-${trace.traceId}-${trace.id}-01`,
      })
    })
  })

  it('outside a span sends project, agent and session', async (test) => {
    const { guard, headers } = noted(test)
    await guard.fetch(new URL(`${HERE}/v1/models`))
    assert.deepEqual(headers(), CONTEXT)
  })

  it('keeps existing headers of the request, also those of a Request', async (test) => {
    const { guard, headers } = noted(test)
    const request = new Request(`${HERE}/x`, { headers: { traceparent: 'theirs', 'X-Guard-Agent-Id': 'mine' } })
    await guard.span('step', () => guard.fetch(request))
    assert.deepEqual(headers(), { ...CONTEXT, traceparent: 'theirs', 'x-guard-agent-id': 'mine' })
  })

  it('leaves requests to other origins unchanged', async (test) => {
    const { guard, calls } = noted(test)
    const init = { method: 'POST' }
    for (const url of ['https://127.0.0.1:8787/v1', 'http://127.0.0.1:8788/v1', 'http://localhost:8787/v1', 'no url']) {
      await guard.span('step', () => guard.fetch(url, init))
      assert.equal(calls.at(-1)?.[0], url)
      assert.equal(calls.at(-1)?.[1], init)
    }
    assert.deepEqual(init, { method: 'POST' })
  })

  it('omits an agent that no header can contain, or that the gateway rejects', async (test) => {
    for (const agent of ['two\nlines', 'zwölf', 'two words', 'me@example.com']) {
      const { guard } = noted(test, [], { project: 'demo', agent, sessionId: 'ok' })
      assert.deepEqual(guard.headers(), { 'x-guard-session-id': 'ok', 'x-guard-project-id': 'demo' })
    }
  })

  it('returns the same response, and records another trace and a block on the span', async (test) => {
    const headers = { 'x-guard-trace-id': 'f'.repeat(32), 'x-guard-decision': 'block', 'x-guard-reason': 'LOOP_EXACT' }
    const answer = new Response('blocked', { status: 429, headers })
    const { guard, sent } = noted(test, [answer])
    await guard.trace('job', async () => {
      const response = await guard.span('ask', () => guard.fetch(`${HERE}/v1/messages`))
      assert.equal(response, answer)
      assert.equal(response.bodyUsed, false)
    })
    await guard.flush()
    const { spans, events } = JSON.parse(sent[0] ?? '') as {
      spans: { name: string; attributes?: object }[]
      events: { name: string; attributes?: object }[]
    }
    // the span had not ended before the response
    assert.deepEqual(spans.find(({ name }) => name === 'ask')?.attributes, { 'sdk.linked_trace': 'f'.repeat(32) })
    assert.deepEqual(
      events.map(({ name, attributes }) => ({ name, attributes })),
      [{ name: 'sdk.blocked', attributes: { reason: 'LOOP_EXACT' } }],
    )
  })

  it('records nothing about its own trace', async (test) => {
    const { guard, sent } = noted(test, [new Response('', { headers: { 'x-guard-trace-id': 'a'.repeat(32) } })])
    await guard.trace('job', { traceId: 'a'.repeat(32) }, () => guard.fetch(`${HERE}/v1/messages`))
    await guard.flush()
    assert.ok(!sent[0]?.includes('sdk.linked_trace'))
  })

  it('follows a redirect without its headers, because it can lead to another host', async (test) => {
    const elsewhere = () => new Response(null, { status: 307, headers: { location: 'https://elsewhere.example/' } })
    const { guard, calls, headers } = noted(test, [elsewhere(), new Response('there'), elsewhere(), elsewhere()])
    const init = { method: 'POST', body: '{}' }
    const response = await guard.fetch(`${HERE}/v1/messages`, init)
    assert.equal(await response.text(), 'there')
    assert.deepEqual(headers(), CONTEXT)
    assert.equal(calls[0]?.[1]?.redirect, 'manual')
    assert.equal(calls[1]?.[1], init)

    const stopped = await guard.fetch(`${HERE}/v1/messages`, { redirect: 'manual' })
    assert.equal(stopped.status, 307)
    const body = new ReadableStream()
    await assert.rejects(guard.fetch(`${HERE}/v1/messages`, { method: 'POST', body, duplex: 'half' }), TypeError)
    assert.equal(calls.length, 4)
  })
})
