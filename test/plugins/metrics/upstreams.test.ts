import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { metrics } from 'guard-gateway/plugins/metrics'
import { fakeClock } from '../../kit/clock.ts'
import { fakeProvider } from '../../kit/provider.ts'
import { ask, chatBody, start } from '../http/kit.ts'
import { anUpstream } from '../upstream/kit.ts'
import { readMetrics } from './reader.ts'

const keys = ['key-number-one-abcdef', 'key-number-two-abcdef']

describe('metrics of upstreams', () => {
  it('say who is asked, for how long one is not, the state of each circuit, and how many keys rest', async () => {
    const clock = fakeClock()
    await using second = await fakeProvider()
    await using running = await start({
      clock,
      plugins: [metrics()],
      upstreams: (url) => [
        anUpstream('first', url, { api_keys: keys, fallback: ['second'], fallback_on: [429] }),
        anUpstream('second', second.url, { circuit: { failures: 1, open_seconds: 30 } }),
      ],
    })
    const limited = { status: 429, headers: { 'retry-after': '20' } }
    running.provider.script(limited, limited)
    second.script({ status: 500 })
    const texts = [await (await fetch(`${running.serving.url}/metrics`)).text()]
    await ask(running.port, { body: chatBody })
    clock.advance(5_000)
    texts.push(await (await fetch(`${running.serving.url}/metrics`)).text())
    const [before, after] = texts.map((text) => readMetrics(text).value)
    const told = (value: typeof before) =>
      ['first', 'second'].map((upstream) => [
        value?.('guard_upstream_ready', { upstream }),
        value?.('guard_upstream_wait_seconds', { upstream }),
        value?.('guard_upstream_failures', { upstream }),
        value?.('guard_upstream_circuit', { upstream, state: 'open' }),
        value?.('guard_upstream_circuit', { upstream, state: 'closed' }),
        value?.('guard_upstream_keys', { upstream, state: 'ready' }),
        value?.('guard_upstream_keys', { upstream, state: 'resting' }),
      ])
    assert.deepEqual(told(before), [
      [1, 0, 0, 0, 1, 2, 0],
      [1, 0, 0, 0, 1, undefined, undefined],
    ])
    assert.deepEqual(told(after), [
      [0, 15, 0, 0, 1, 0, 2],
      [0, 25, 1, 1, 0, undefined, undefined],
    ])
    for (const key of keys) assert.ok(!texts.join('').includes(key))
  })
})
