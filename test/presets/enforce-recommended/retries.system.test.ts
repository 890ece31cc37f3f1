import assert from 'node:assert/strict'
import { request } from 'node:http'
import { describe, it } from 'node:test'
import { type Dialect, dialects } from '../../kit/dialogue.ts'
import type { Script } from '../../kit/provider.ts'
import { decisionOf, type Service, startService } from '../../kit/service.ts'

const failure = { type: 'error', error: { type: 'overloaded_error', code: 'server_error', message: 'Overloaded' } }
const event = `event: error\ndata: ${JSON.stringify(failure)}\n\n`

/** Ways in which a provider lets a request down. */
const failures: Readonly<Record<string, Script>> = {
  'a refusal with 429': { status: 429, headers: { 'retry-after': '1' }, body: JSON.stringify(failure) },
  'a refusal with 503': { status: 503, body: JSON.stringify(failure) },
  'an error within its stream': { headers: { 'content-type': 'text/event-stream' }, body: event },
  'a reset': { reset: true },
  'half a stream': { cut_at: 60 },
}

/** How a client sends a request again: with the id of its session, or without one. */
const clients = { 'names its session': { 'x-guard-session-id': 'one' }, 'names no session': {} } as const

const TASK = [{ user: 'Update the changelog.' }]
const streamed = { stream: true }
const WELL = { status: 200, decision: 'allow', reason: null }

/** The answer breaks off where the provider's does; its head tells the decision. */
const reasonOf = async (service: Service, dialect: Dialect, headers: object): Promise<string | null> => {
  const answer = await fetch(service.gateway.url + dialect.path, {
    method: 'POST',
    headers: { 'x-api-key': service.gateway.key, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(dialect.body(TASK, streamed)),
  })
  await answer.text().catch(() => '')
  return answer.headers.get('x-guard-reason')
}

/** Asks, and leaves while the answer is awaited. */
const abort = async (service: Service, dialect: Dialect, headers: Readonly<Record<string, string>>): Promise<void> => {
  service.provider.script({ silent: true })
  const asked = service.provider.next()
  const sent = request(service.gateway.url + dialect.path, {
    method: 'POST',
    headers: { 'x-api-key': service.gateway.key, 'content-type': 'application/json', ...headers },
  })
  sent.on('error', () => {})
  const refused = new Promise<never>((_, reject) => sent.on('response', () => reject(new Error('was answered'))))
  sent.end(JSON.stringify(dialect.body(TASK, streamed)))
  // the gateway has let go of the provider's connection once it knows that its client left
  const { closed } = await Promise.race([asked, refused])
  sent.destroy()
  await closed
}

describe('a retry under enforce-recommended', () => {
  for (const [client, headers] of Object.entries(clients)) {
    for (const dialect of dialects) {
      for (const [name, script] of Object.entries(failures)) {
        it(`in ${dialect.style} passes after ${name} four times, where the client ${client}`, async () => {
          await using service = await startService({ config: 'preset: enforce-recommended' })
          service.provider.script(...Array.from({ length: 4 }, () => script))
          for (let attempt = 1; attempt <= 4; attempt++) assert.equal(await reasonOf(service, dialect, headers), null)
          assert.deepEqual(decisionOf(await service.send(dialect, TASK, headers, streamed)), WELL)
          assert.equal(service.provider.requests.length, 5)
        })
      }
      it(`in ${dialect.style} is stopped by error_retry at the sixth, where the client ${client}`, async () => {
        await using service = await startService({ config: 'preset: enforce-recommended' })
        service.provider.script(...Array.from({ length: 6 }, () => failures['a refusal with 503'] ?? {}))
        for (let attempt = 1; attempt <= 5; attempt++)
          assert.equal((await service.send(dialect, TASK, headers)).status, 503)
        const blocked = { status: 429, decision: 'block', reason: 'LOOP_ERROR_RETRY' }
        assert.deepEqual(decisionOf(await service.send(dialect, TASK, headers)), blocked)
        assert.equal(service.provider.requests.length, 5)
      })
      it(`in ${dialect.style} passes after five client aborts, where it ${client}`, async () => {
        await using service = await startService({ config: 'preset: enforce-recommended' })
        for (let attempt = 1; attempt <= 5; attempt++) await abort(service, dialect, headers)
        assert.deepEqual(decisionOf(await service.send(dialect, TASK, headers, streamed)), WELL)
        assert.equal(service.provider.requests.length, 6)
      })
    }
  }
  it('passes if two models fail alternately', async () => {
    await using service = await startService({ config: 'preset: enforce-recommended' })
    const busy = failures['a refusal with 429'] ?? {}
    const down = failures['a refusal with 503'] ?? {}
    service.provider.script(...Array.from({ length: 6 }, (_, n) => (n % 2 === 0 ? busy : down)))
    const [dialect] = dialects
    assert.ok(dialect)
    const send = (n: number) => service.send(dialect, TASK, clients['names its session'], { model: `m-${n % 2}` })
    for (let n = 0; n < 8; n++) assert.equal(decisionOf(await send(n)).reason, null)
  })
  for (const dialect of dialects) {
    it(`in ${dialect.style} counts as a repeat after a response`, async () => {
      await using service = await startService({ config: 'preset: enforce-recommended' })
      service.provider.script(...Array.from({ length: 2 }, () => failures['a refusal with 503'] ?? {}))
      const send = () => service.send(dialect, TASK, clients['names its session'])
      for (let attempt = 1; attempt <= 4; attempt++) assert.equal(decisionOf(await send()).reason, null)
      assert.deepEqual(decisionOf(await send()), { status: 429, decision: 'block', reason: 'LOOP_EXACT' })
    })
    it(`in ${dialect.style} is no loop for observe, and is one for the literal rules`, async () => {
      await using service = await startService()
      const reasons = async (headers: object) => {
        service.provider.script(...Array.from({ length: 2 }, () => failures['half a stream'] ?? {}))
        const found: (string | null)[] = []
        for (let attempt = 1; attempt <= 3; attempt++) found.push(await reasonOf(service, dialect, headers))
        return found
      }
      assert.deepEqual(await reasons({ 'x-guard-session-id': 'literal' }), [null, null, 'LOOP_EXACT'])
      await service.policy({ preset: 'observe' })
      assert.deepEqual(await reasons({ 'x-guard-session-id': 'observed' }), [null, null, null])
    })
  }
})
