import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ApiStyle, Gateway, Plugin, Reading, Settled } from 'guard-gateway/core'
import { chatCompletions } from 'guard-gateway/plugins/api-styles/chat-completions'
import { listenBy } from '#lib/api-style'
import { startService } from '../kit/service.ts'

/** As it comes from a plugin that no compiler has looked at. */
const odd = <T>(value: unknown): T => value as T
const fail = (): never => {
  throw new Error('broken')
}
const meters: Readonly<Record<string, () => unknown>> = {
  throws: fail,
  nothing: () => undefined,
  push: () => ({ push: fail, end: fail }),
  end: () => ({ push() {}, end: fail }),
  no_reading: () => ({ push() {}, end: () => undefined }),
  promise: () => ({ push() {}, end: async () => reading({ calls: [] }) }),
  never: () => ({ push() {}, end: () => new Promise(() => {}) }),
  odd_calls: () => ({ push() {}, end: () => reading({ calls: [null] }) }),
  odd_tier: () => ({ push() {}, end: () => reading({ calls: [], usage: null, service_tier: 7 }) }),
  odd_counts: () => ({ push() {}, end: () => reading({ usage: { total_tokens: Number.NaN } }) }),
}
const reading = (more: object): Reading =>
  odd({ ...more, output_bytes: 0, model: null, response_id: null, finish_reason: null, error: null, complete: true })

const refusals: Readonly<Record<string, () => unknown>> = {
  throws: fail,
  nothing: () => undefined,
  circular: () => {
    const circle: { self?: object } = {}
    circle.self = circle
    return circle
  },
}

/** A style that is broken as the path of its request says, and what was settled. */
const brokenStyle = () => {
  const settled: Settled[] = []
  const faults: string[] = []
  const ways = [
    ...Object.keys(meters).map((name) => [`meter_${name}`, { meter: meters[name] }] as const),
    ...Object.keys(refusals).map((name) => [`refusal_${name}`, { refusal: refusals[name] }] as const),
    ['listen_throws', { listen: fail }] as const,
    ['listen_fails', { listen: listenBy(() => ({ event: fail, body: fail, ending: fail })) }] as const,
  ]
  const plugin: Plugin = {
    name: 'broken',
    apply({ apiStyles, hooks, detectors }: Gateway) {
      for (const [id, way] of ways)
        apiStyles.add(odd<ApiStyle>({ ...chatCompletions, id, paths: [`/v1/${id}`], ...way }))
      hooks.settle.tap('broken', (one) => void settled.push(one))
      hooks.fault.tap('broken', (_error, where) => void faults.push(where))
      const defaults = { threshold: 1, window_size: 1 }
      const common = { code: 'X', version: '1', kind: 'outcome', defaults, detect: () => undefined } as const
      detectors.add({ ...common, id: 'unable', stream: fail })
      detectors.add({ ...common, id: 'deaf', stream: () => ({ push: () => undefined, gap: fail }) })
      detectors.add({ ...common, id: 'bold', detect: () => odd({ message: 'm', evidence: 'session', code: 'A\r\nB' }) })
    },
  }
  return { plugin, settled, faults, ids: ways.map(([id]) => id) }
}

const rule = (rule_type: string, action: string) => ({
  id: rule_type,
  rule_type,
  threshold: 1,
  window_size: 1,
  action,
  enabled: true,
})

const startBroken = async (rules: readonly object[]) => {
  const style = brokenStyle()
  const service = await startService({
    upstreams: (url) => `[{ name: provider, base_url: "${url}", styles: [chat_completions, ${style.ids.join(', ')}] }]`,
    plugins: [style.plugin],
  })
  await service.policy({ mode: 'enforce', rules })
  const ask = (id: string, more: object = {}) =>
    service.request('POST', `/v1/${id}`, { model: 'm', messages: [{ role: 'user', content: id }], ...more })
  return { ...style, service, ask }
}

describe('a style that fails at a reply', () => {
  it('changes nothing for the client, is named, and every call is settled once', async () => {
    const { ids, ask, service, settled, faults } = await startBroken([rule('deaf', 'flag')])
    await using _ = service
    const wanted = (await ask('chat/completions')).text
    for (const id of ids.filter((id) => !id.startsWith('refusal'))) {
      const [before, told] = [settled.length, faults.length]
      const { status, text } = await ask(id)
      assert.deepEqual([status, text], [200, wanted], id)
      assert.equal(settled.length - before, 1, id)
      assert.deepEqual([...new Set(faults.slice(told))], [`${id.split('_')[0]}:${id}`], id)
    }
  })
})

describe('a style that fails at a refusal', () => {
  it('refuses in our own form, is named, and every call is settled once', async () => {
    const { ids, ask, service, settled, faults } = await startBroken([rule('bold', 'block')])
    await using _ = service
    for (const id of ids.filter((id) => id.startsWith('refusal'))) {
      const [before, told] = [settled.length, faults.length]
      const { status, json } = await ask(id)
      const { error } = json as { error?: { code?: string } }
      assert.deepEqual([status, error?.code], [429, 'X'], `${id}: the code is the detector's, not the finding's`)
      assert.equal(settled.length - before, 1, id)
      assert.deepEqual(faults.slice(told), [`refusal:${id}`])
      assert.equal((await service.request('POST', `/v1/${id}`, 'no JSON')).status, 400, id)
    }
  })
})

describe('a detector that fails while it listens', () => {
  it('is no match, and the reply is metered all the same', async () => {
    const { ask, service, settled, faults } = await startBroken([rule('unable', 'block'), rule('deaf', 'block')])
    await using _ = service
    service.provider.script({
      headers: { 'content-type': 'text/event-stream' },
      body: `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}]}}]}\n\ndata: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2}}\n\ndata: [DONE]\n\n`,
    })
    assert.equal((await ask('chat/completions', { stream: true })).status, 200)
    assert.deepEqual(faults, ['detector:unable', 'detector:deaf'])
    assert.equal(settled.at(-1)?.usage.total_tokens, 7)
  })
})

describe('a reply that a plugin has spoilt', () => {
  it('is refused, settled once, and the upstream is let go', async () => {
    const settled: Settled[] = []
    const spoilt: Plugin = {
      name: 'spoilt',
      apply({ hooks }) {
        hooks.settle.tap('spoilt', (one) => void settled.push(one))
        hooks.decision.tap({ name: 'spoilt', stage: 100 }, (decision) => ({ ...decision, reason: 'a\nb' }))
      },
    }
    await using service = await startService({ plugins: [spoilt] })
    const came = service.provider.next()
    service.provider.script({ stall_at: 3, chunked: true })
    const body = { model: 'm', stream: true, messages: [{ role: 'user', content: 'x' }] }
    const { status } = await service.request('POST', '/v1/chat/completions', body)
    assert.deepEqual([status, settled.map(({ outcome }) => outcome)], [500, ['truncated']])
    await (await came).closed
  })
  it('is settled once, where its body is none', async () => {
    for (const body of [undefined, null, 'text', {}]) {
      const settled: Settled[] = []
      const odd_body: Plugin = {
        name: 'spoilt',
        apply({ hooks }) {
          hooks.settle.tap('spoilt', (one) => void settled.push(one))
          hooks.forward.tap({ name: 'spoilt', stage: -100 }, () =>
            odd({ status: 200, headers: [], body, upstream: 'p', attempts: [] }),
          )
        },
      }
      await using service = await startService({ plugins: [odd_body] })
      const asked = service.request('POST', '/v1/chat/completions', { model: 'm', messages: [] })
      // the head may be on its way already
      await asked.catch(() => {})
      assert.deepEqual(
        settled.map(({ outcome }) => outcome),
        ['truncated'],
        String(body),
      )
    }
  })
})
