import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import { bodyOf, STAMP, stamp, template } from 'guard-gateway/bench'
import { type ChildGateway, startChildGateway } from '../kit/child-gateway.ts'
import { type FakeProvider, fakeProvider } from '../kit/provider.ts'

const HEAP_MB = 96
const REQUESTS = 2_000
const CLIENTS = 8
const TURNS = 40

/** A conversation that grows to 50 KB. */
const conversation = template({
  ...{ style: 'chat_completions', first: 800, turns: TURNS, result: 1_000, system: 2_000 },
  ...{ tools: 4, stream: false, seed: 9 },
})

let folder = ''
let provider: FakeProvider
let gateway: ChildGateway | undefined
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guard-small-heap-'))
  provider = await fakeProvider()
})
after(async () => {
  await gateway?.end('SIGKILL')
  await provider.close()
  await rm(folder, { recursive: true, force: true })
})

it(`a gateway with a heap of ${HEAP_MB} MB serves thousands of requests of growing sessions, each on record`, async () => {
  const env = { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` }
  gateway = await startChildGateway(folder, provider.url, '', 0, env)
  const { url, key, said } = gateway
  const ask = async (client: number): Promise<void> => {
    const bytes = Buffer.from(conversation.bytes)
    for (let request = 0; request < REQUESTS / CLIENTS; request++) {
      const session = Math.floor(request / TURNS)
      stamp(bytes, conversation.stamps, `${client}-${session}`.padStart(STAMP, '0'))
      const answer = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${key}`,
          'x-guard-session-id': `${client}-${session}`,
        },
        body: bodyOf({ ...conversation, bytes }, request % TURNS),
      })
      assert.equal(answer.status, 200, await answer.text())
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, (_, client) => ask(client)))
  const ended = gateway.end('SIGTERM')
  gateway = undefined
  assert.deepEqual(await ended, [0, null], said())
  assert.doesNotMatch(said(), /"level":"(warn|error)"/)
  const db = new Sqlite(join(folder, 'guard.db'), { readonly: true })
  const recorded = db.prepare('select outcome, count(*) calls from calls group by outcome').all()
  db.close()
  assert.deepEqual(recorded, [{ outcome: 'ok', calls: REQUESTS }])
})
