import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Clock } from 'guard-gateway/core'
import { serve } from 'guard-gateway/plugins/http'
import { createGateway } from 'guard-gateway/presets/default'
import { parseConfig } from '../../presets/default/config.ts'
import { fakeClock } from '../kit/clock.ts'
import { FakeProvider } from '../kit/provider.ts'

const DAY = 86_400_000
const KEY = 'guard_test_key_that_is_long_enough'
/** How long the request takes, whatever is done to the wall clock meanwhile. */
const TOOK = 1_500

/** A clock whose wall time ids may be made of. */
const clockOf = () => fakeClock(Date.UTC(2026, 5, 1, 12))

const gatewayWith = async (clock: Clock, upstream: string) => {
  const upstreams = `upstreams: [{ name: provider, base_url: "${upstream}", styles: [messages] }]`
  const { config } = await parseConfig(`gateway_key: ${KEY}\nstorage: { backend: memory }\n${upstreams}`, '/x.yml', {})
  const gateway = await createGateway(config, [], undefined, clock)
  const { url, close } = await serve(gateway, { port: 0, log: { write: () => {} } })
  const get = async (path: string) => (await fetch(url + path)).text()
  return { gateway, url, get, [Symbol.asyncDispose]: close }
}

const streamed = { model: 'm', max_tokens: 9, stream: true, messages: [{ role: 'user', content: 'hello' }] }

describe('the wall clock is set while a request is under way', () => {
  for (const [name, jump] of [
    ['forty days on', 40 * DAY],
    ['three hours back', -3 * 3_600_000],
    ['four hundred days back', -400 * DAY],
  ] as const)
    for (const when of ['before the first byte', 'in the stream'] as const)
      it(`${name}, ${when}: every duration is what passed`, async () => {
        const clock = clockOf()
        const whole = Promise.withResolvers<void>()
        await using provider = await new FakeProvider().listen()
        provider.script({ until: whole.promise, pieces: [40] })
        await using running = await gatewayWith(clock, provider.url)
        const arrived = provider.next()
        const pending = fetch(`${running.url}/v1/messages`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-api-key': KEY, 'x-guard-session-id': 'one' },
          body: JSON.stringify(streamed),
        })
        await arrived
        const at = clock.now()
        if (when === 'before the first byte') clock.jump(jump)
        clock.advance(TOOK / 3)
        whole.resolve()
        const response = await pending
        if (when === 'in the stream') clock.jump(jump)
        clock.advance((TOOK / 3) * 2)
        assert.equal(response.status, 200)
        await response.text()
        const { storage } = running.gateway
        const [record] = (await storage.find('calls', {})).rows
        assert.ok(record)
        assert.equal(record.received_at, at)
        assert.ok(record.first_byte_at !== null && record.first_byte_at >= at && record.first_byte_at <= at + TOOK)
        assert.ok(record.ended_at >= record.first_byte_at && record.ended_at <= at + TOOK)
        const took = record.ended_at - record.received_at
        const [run] = (await storage.find('runs', {})).rows
        assert.equal(run?.duration_ns, BigInt(took) * 1_000_000n)
        const [session] = (await storage.find('sessions', {})).rows
        assert.equal((session?.last_seen_at ?? 0) - (session?.created_at ?? 0), took)
        const metrics = await running.get('/metrics')
        const sum = /gen_ai_server_request_duration_sum\{[^}]*\} (\S+)/.exec(metrics)?.[1]
        assert.equal(Number(sum), took / 1000)
        const [head = '', line = ''] = (await running.get('/api/export/aggregates.csv')).split('\r\n')
        const column = head.replaceAll('"', '').split(',').indexOf('duration_ms')
        assert.equal(line.replaceAll('"', '').split(',')[column], String(took))
      })
})
