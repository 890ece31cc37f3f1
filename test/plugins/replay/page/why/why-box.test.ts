import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type Started, startGateway } from '../../../../kit/gateway.ts'
import { FakeProvider } from '../../../../kit/provider.ts'
import { at, partOf, textOf } from '../kit.ts'

const PRICES = 'version: 1\ncurrency: USD\nmodels: { "*": { input: 5000000, output: 25000000 } }\n'

const BROWSER = { accept: 'text/html' }

describe('the box that tells why a run failed', () => {
  let provider: FakeProvider
  let gateway: Started
  before(async () => {
    provider = await new FakeProvider().listen()
    gateway = await startGateway({ upstream: provider.url, config: 'server: { allow_mode_header: true }' })
  })
  after(async () => {
    await gateway.close()
    await provider.close()
  })
  const why = async (path: string): Promise<string> => {
    const { status, text } = await gateway.request('GET', path, undefined, BROWSER)
    assert.equal(status, 200, text)
    return text.includes('<section id="why"') ? partOf(text, 'why') : ''
  }
  const ask = async (count: number, session: string, more: Readonly<Record<string, string>> = {}): Promise<string> => {
    const body = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: session }] }
    const headers = { 'x-guard-session-id': session, 'x-guard-project-id': 'shop', ...more }
    for (let sent = 0; sent < count; sent++) await gateway.request('POST', '/v1/messages', body, headers)
    const { json } = await gateway.request('GET', `/api/v1/runs?limit=1&project_id=shop`)
    return (json as { readonly runs: readonly { readonly trace_id: string }[] }).runs[0]?.trace_id ?? ''
  }
  const trace = async (body: object): Promise<void> => {
    const { status, text } = await gateway.request('POST', '/api/v1/traces', body)
    assert.ok(status < 300, text)
  }

  it('tells a loop: evidence, equal requests, what came from there on, rule, what to do, buttons', async () => {
    const id = await ask(12, 'looping')
    const box = await why(`/replay/${id}`)
    assert.match(
      textOf(box),
      /^LOOP_EXACT 8 identical requests in the last 8, first at gen_ai\.request#3 ; equal to #1 , #2 10 of 12 requests and \d+ tokens came from here on\. Enforced, it would have ended here\. Rule exact_repeat \(3 equal requests in 8\) \. Send a new instruction, or resume the session\. Pause session Reset loop rules Session$/,
    )
    assert.match(box, /href="\/policies\/shop#rule-[^"]+">exact_repeat</)
    assert.match(box, /<a class="step" href="\?span=[0-9a-f]{16}#span-[0-9a-f]{16}"><bdi>gen_ai\.request<\/bdi>#3/)
  })

  it('has forms that pause and resume the session, and come back', async () => {
    const id = await ask(4, 'stopping')
    const form = async (act: string): Promise<string> => {
      const box = await why(`/replay/${id}`)
      const [, path = '', back = '', shown = ''] =
        new RegExp(`action="([^"]*/${act})"><input[^>]*value="([^"]*)"><input[^>]*value="([^"]*)"`).exec(box) ?? []
      const answer = await fetch(gateway.url + path, {
        method: 'POST',
        redirect: 'manual',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ return_to: back, shown }),
      })
      assert.equal(answer.status, 303)
      return answer.headers.get('location') ?? ''
    }
    assert.match(await form('pause'), new RegExp(`^/replay/${id}\\?notice=session-paused`))
    assert.match(textOf(await why(`/replay/${id}`)), /Resume session Paused session$/)
    await form('resume')
    assert.match(textOf(await why(`/replay/${id}`)), /Pause session Reset loop rules Session$/)
  })

  it('tells of a blocked loop that it was not forwarded, and how many attempts followed', async () => {
    const id = await ask(6, 'blocked', { 'x-guard-mode': 'enforce' })
    const text = textOf(await why(`/replay/${id}`))
    assert.match(text, /^LOOP_EXACT 3 identical requests in the last 3, first at gen_ai\.request#3/)
    assert.match(text, /It was blocked: nothing was forwarded\. 3 identical attempts followed\./)
  })

  it('tells what a failed step says, and what came after it', async () => {
    const step = (id: string, from: number, more: object = {}) => ({
      id,
      name: 'command.exec',
      start_ns: at(from),
      end_ns: at(from + 10),
      ...more,
    })
    const failing = { status: 'error', status_message: '2 tests <failed>', attributes: { command: 'npm test' } }
    await trace({ trace_id: 'red', status: 'error', spans: [step('a', 0), step('b', 20, failing), step('c', 40)] })
    const box = await why('/replay/red')
    assert.match(
      textOf(box),
      /^\S+ command\.exec#2 npm test : 2 tests &lt;failed&gt; 1 step came after it\. .* Compare with a run that went well$/,
    )
    const exception = { name: 'exception', attributes: { 'exception.message': 'out of paper' } }
    await trace({
      trace_id: 'thrown',
      status: 'error',
      spans: [step('d', 0, { status: 'error', events: [exception] })],
    })
    assert.match(textOf(await why('/replay/thrown')), /: out of paper Nothing came after it\./)
    const overloaded = { 'error.type': 'overloaded_error', 'http.response.status_code': 529 }
    await trace({
      trace_id: 'busy',
      status: 'error',
      spans: [step('e', 0, { status: 'error', attributes: overloaded })],
    })
    assert.match(textOf(await why('/replay/busy')), /: 529 overloaded_error /)
    const long = { status: 'error', status_message: `${'x'.repeat(5_000)}` }
    await trace({ trace_id: 'wordy', status: 'error', spans: [step('f', 0, long)] })
    const text = textOf(await why('/replay/wordy'))
    assert.ok(text.length < 700, String(text.length))
  })

  it('names the innermost failed step, not those that it is in', async () => {
    const inner = { id: 'in', name: 'tool.call', status: 'error', status_message: 'no such file' }
    await trace({
      trace_id: 'nested',
      status: 'error',
      spans: [{ id: 'out', name: 'gen_ai.request', status: 'error', spans: [inner] }],
    })
    assert.match(textOf(await why('/replay/nested')), /tool\.call#1 : no such file/)
  })

  it('trusts no client with links to rules, and is not there for a run that went well', async () => {
    const attributes = {
      decision: 'deny',
      reason_code: 'NO_NETWORK',
      rule_id: 'no-network',
      matches: ['odd', { message: 7 }],
    }
    const events = [{ name: 'policy.decision', attributes }]
    await trace({ trace_id: 'told', status: 'error', spans: [{ id: 't', name: 'tool.call', events }] })
    const box = await why('/replay/told')
    assert.match(textOf(box), /^NO_NETWORK deny, first at tool\.call#1 The call was denied\. Rule no-network/)
    assert.doesNotMatch(box, /\/policies\//)
    await trace({ trace_id: 'well', status: 'ok', spans: [{ id: 'w', name: 'tool.call' }] })
    assert.equal(await why('/replay/well'), '')
  })
})

describe('the box of a run with prices', () => {
  it('tells the cost from there on', async () => {
    await using provider = await new FakeProvider().listen()
    const first = await startGateway({ upstream: provider.url })
    const { folder } = first
    await writeFile(join(folder, 'prices.yml'), PRICES)
    const gateway = await startGateway({ upstream: provider.url, folder, config: 'replay: { pricing: prices.yml }' })
    try {
      const body = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'again' }] }
      for (let sent = 0; sent < 4; sent++) await gateway.request('POST', '/v1/messages', body)
      const { json } = await gateway.request('GET', '/api/v1/runs')
      const [run] = (json as { readonly runs: readonly { readonly trace_id: string }[] }).runs
      const { text } = await gateway.request('GET', `/replay/${run?.trace_id}`, undefined, BROWSER)
      assert.match(
        textOf(partOf(text, 'why')),
        /2 of 4 requests, 0\.00045 of 0\.0009 USD and 50 tokens came from here on/,
      )
    } finally {
      await gateway.close()
      await first.close()
    }
  })
})
