import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { Agent, request as httpRequest } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { random } from 'guard-gateway/bench'
import { dialects } from '../kit/dialogue.ts'
import { chatReply, messagesReply, replyFor, responsesReply } from '../kit/replies.ts'
import { type Service, startService } from '../kit/service.ts'
import { settlements } from '../kit/settlements.ts'

const STREAMS = 200

const replyOf = { responses: responsesReply, chat_completions: chatReply, messages: messagesReply }
const words = (count: number, pick: () => number): string =>
  Array.from(
    { length: count },
    () => ['héllo', '世界', 'plain', '"quoted"', '🙂', 'data:'][Math.floor(pick() * 6)],
  ).join(' ')

const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

describe('streamed replies', () => {
  const ended = settlements()
  const agent = new Agent({ keepAlive: true, maxSockets: STREAMS })
  let service: Service
  before(async () => {
    service = await startService({ plugins: [ended], backend: 'sqlite' })
  })
  after(async () => {
    agent.destroy()
    await service[Symbol.asyncDispose]()
  })

  /** The bytes of a streamed reply, and whether it ended as it should. */
  const stream = (path: string, body: object, session: string) =>
    new Promise<{ readonly bytes: Buffer; readonly complete: boolean; readonly chunks: number }>((resolve, reject) => {
      const headers = {
        'x-api-key': service.gateway.key,
        'content-type': 'application/json',
        'x-guard-session-id': session,
      }
      const sent = httpRequest(service.gateway.url + path, { method: 'POST', headers, agent }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => void chunks.push(chunk))
        response.on('close', () =>
          resolve({ bytes: Buffer.concat(chunks), complete: response.complete, chunks: chunks.length }),
        )
      })
      sent.on('error', reject)
      sent.end(JSON.stringify(body))
    })

  for (const dialect of dialects)
    it(`${dialect.style}: the bytes are those of the provider however they are cut into chunks`, async () => {
      const pick = random(7)
      for (let round = 0; round < 12; round++) {
        const sent = Buffer.from(replyOf[dialect.style](true, words(60, pick), true).body)
        const pieces = Array.from({ length: 9 }, () => 1 + Math.floor(pick() ** 2 * 300))
        const count = ended.all.length
        service.provider.script({ headers: { 'content-type': 'text/event-stream' }, body: sent, chunked: true, pieces })
        const body = dialect.body([{ user: `round ${round}` }], { stream: true })
        const { bytes, complete } = await stream(dialect.path, body, `chunks-${dialect.style}`)
        assert.equal(digest(bytes), digest(sent))
        assert.ok(complete)
        const [settled] = (await ended.reach(count + 1)).slice(count)
        assert.deepEqual([settled?.outcome, settled?.usage_source, settled?.usage.total_tokens], ['ok', 'reported', 25])
      }
    })

  /** So many streams that are all open at once, before the provider sends the first byte. */
  const crowd = async (): Promise<void> => {
    const count = ended.all.length
    const { promise: until, resolve: open } = Promise.withResolvers<void>()
    service.provider.script(...Array.from({ length: STREAMS }, (_, n) => ({ until, pieces: [1 + (n % 40), 60] })))
    const arrived = Promise.all(Array.from({ length: STREAMS }, () => service.provider.next()))
    const asked = Array.from({ length: STREAMS }, (_, n) => {
      const { path, body, style } = dialects[n % 3] ?? assert.fail()
      const answer = stream(path, body([{ user: `task ${count + n}` }], { stream: true }), `crowd-${n % 20}-${style}`)
      return { path, answer }
    })
    await arrived
    const { http } = (await service.request('GET', '/api/health')).json as { http: { in_flight: number } }
    assert.equal(http.in_flight, STREAMS)
    open()
    for (const { path, answer } of asked) {
      const { bytes, complete } = await answer
      assert.ok(complete, 'a stream was cut')
      assert.equal(bytes.toString(), replyFor(path, true).body)
    }
    const settled = (await ended.reach(count + STREAMS)).slice(count)
    assert.deepEqual([settled.length, new Set(settled.map(({ outcome }) => outcome))], [STREAMS, new Set(['ok'])])
    for (const { call } of settled)
      assert.equal((await service.gateway.gateway.storage.get('calls', call.id))?.outcome, 'ok')
  }

  it(`${STREAMS} at a time all arrive whole and are recorded, and nothing of them stays behind`, async () => {
    await crowd()
    const first = heapAfterCollection()
    await crowd()
    const { http } = (await service.request('GET', '/api/health')).json as { http: object }
    assert.deepEqual(http, { in_flight: 0, buffered_bytes: 0 })
    const kept = (heapAfterCollection() - first) / STREAMS
    assert.ok(kept < 20_000, `${Math.round(kept)} bytes stay of each stream`)
  })
})

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
// under another flag the engine would refuse what others have compiled
setFlagsFromString('--no-expose-gc')

/** Bytes of live objects. */
const heapAfterCollection = (): number => {
  collect()
  return process.memoryUsage().heapUsed
}
