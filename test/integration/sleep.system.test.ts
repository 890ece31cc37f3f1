import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import { type ChildGateway, startChildGateway } from '../kit/child-gateway.ts'
import { replyTo } from '../kit/replies.ts'

const TIMEOUT_MS = 1_000
/** Longer than every timeout, and than the clocks of the process take to notice. */
const STOPPED_MS = 2_500
const DAY_MS = 86_400_000
const STREAMS = 8

/** A provider that begins each stream when it is asked and ends it when it is told. */
class HeldProvider {
  readonly held: { readonly response: ServerResponse; readonly body: string; readonly type: string }[] = []
  readonly #server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const { body, type } = replyTo(request.url ?? '', Buffer.concat(chunks).toString())
    if (this.answersAtOnce) response.writeHead(200, { 'content-type': type }).end(body)
    else this.#hold(response, body.toString(), type)
  })
  answersAtOnce = false
  #wanted = 0
  #onHeld: () => void = () => {}

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }
  /** Resolves when so many requests wait. */
  holds(count: number): Promise<void> {
    this.#wanted = count
    return new Promise((resolve) => {
      this.#onHeld = resolve
      this.#check()
    })
  }
  /** Sends the rest of everything. */
  release(): void {
    for (const { response, body, type } of this.held.splice(0)) {
      if (!response.headersSent) response.writeHead(200, { 'content-type': type })
      response.end(body.slice(type.includes('event-stream') ? 20 : 0))
    }
  }
  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  #hold(response: ServerResponse, body: string, type: string): void {
    this.held.push({ response, body, type })
    // a stream has begun, a whole reply has not
    if (type.includes('event-stream')) response.writeHead(200, { 'content-type': type }).write(body.slice(0, 20))
    this.#check()
  }
  #check(): void {
    if (this.held.length >= this.#wanted) this.#onHeld()
  }
}

const chat = (session: number, stream: boolean) => ({
  model: 'm',
  stream,
  messages: [{ role: 'user', content: `question ${session}` }],
})

for (const counts of ['wall', 'monotonic'])
  describe(`a gateway asleep for a day, on a system that counts sleep in ${counts} time`, () => {
    let folder = ''
    let gateway: ChildGateway
    let hasEnded = false
    const provider = new HeldProvider()
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'guard-asleep-'))
      const timeouts = { headers_ms: TIMEOUT_MS, idle_ms: TIMEOUT_MS }
      const env = {
        NODE_OPTIONS: `--import=${join(import.meta.dirname, '../kit/sleeping-clocks.ts')}`,
        SLEEP_COUNTS: counts,
      }
      gateway = await startChildGateway(folder, { url: await provider.listen(), timeouts }, '', 0, env)
    })
    after(async () => {
      if (!hasEnded) await gateway?.end('SIGKILL')
      provider.close()
      await rm(folder, { recursive: true, force: true })
    })

    const post = (session: number, stream: boolean) =>
      fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${gateway.key}`,
          'x-guard-session-id': `s${session}`,
        },
        body: JSON.stringify(chat(session, stream)),
      })

    it('passes on whole what came meanwhile, streams and replies that had not begun', async () => {
      const begun = Promise.all(Array.from({ length: STREAMS }, (_, session) => post(session, true)))
      const pending = Array.from({ length: STREAMS }, (_, session) => post(STREAMS + session, false))
      const streams = await begun
      await provider.holds(2 * STREAMS)
      gateway.signal('SIGSTOP')
      provider.release()
      // the timeouts pass while it is stopped
      await new Promise((resolve) => setTimeout(resolve, STOPPED_MS))
      gateway.signal('SIGCONT')
      for (const [session, answer] of streams.entries()) {
        assert.equal(answer.status, 200)
        const { body } = replyTo('/v1/chat/completions', JSON.stringify(chat(session, true)))
        assert.equal(await answer.text(), body.toString(), `stream ${session}`)
      }
      for (const [session, answer] of (await Promise.all(pending)).entries())
        assert.equal(answer.status, 200, `${session}: ${await answer.text()}`)
    })
    it('goes on at once, in the sessions it had', async () => {
      provider.answersAtOnce = true
      for (let session = 0; session < STREAMS; session++) {
        const answer = await post(session, false)
        assert.equal(answer.status, 200)
        await answer.text()
      }
      assert.equal((await fetch(`${gateway.url}/api/health`)).status, 200)
    })
    it('has everything on record, as what it was and took, and warns of nothing', async () => {
      hasEnded = true
      assert.deepEqual(await gateway.end('SIGTERM'), [0, null], gateway.said())
      const db = new Sqlite(join(folder, 'guard.db'), { readonly: true })
      const calls = db.prepare('select outcome, ended_at - received_at took from calls').all() as {
        outcome: string
        took: number
      }[]
      const runs = db.prepare('select distinct status from runs').all()
      const sessions = db.prepare('select requests, count(*) sessions from sessions group by requests order by 1').all()
      db.close()
      assert.deepEqual(
        calls.map(({ outcome }) => outcome),
        Array.from({ length: 3 * STREAMS }, () => 'ok'),
      )
      assert.deepEqual(runs, [{ status: 'ok' }])
      assert.deepEqual(sessions, [
        { requests: 1, sessions: STREAMS },
        { requests: 2, sessions: STREAMS },
      ])
      const longest = Math.max(...calls.map(({ took }) => took))
      // sleep is part of what a request took only where the monotonic clock counts it
      if (counts === 'wall') assert.ok(longest < DAY_MS, `${longest} ms`)
      assert.doesNotMatch(gateway.said(), /"level":"(warn|error)"/)
    })
  })
