import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import Sqlite from 'better-sqlite3'
import { parseConfig } from '../../presets/default/config.ts'
import { main } from '../../presets/default/main.ts'
import { chat, KEPT, makeHistory, POLICY } from '../databases/history.ts'
import { fakeClock } from '../kit/clock.ts'
import { type Started, startGateway } from '../kit/gateway.ts'
import { fakeIo } from '../kit/io.ts'
import { mcpUpstream } from '../kit/mcp-upstream.ts'
import { type FakeProvider, fakeProvider } from '../kit/provider.ts'

const recorded = join(import.meta.dirname, '../data/databases')
/** Each release adds one, beside the configuration of its first start. */
const files = existsSync(recorded) ? readdirSync(recorded) : []
const root = mkdtempSync(join(tmpdir(), 'guard-older-'))
after(() => rmSync(root, { recursive: true, force: true }))

/** A database in a folder of its own, and when it was recorded. */
interface Recorded {
  readonly folder: string
  readonly file: string
  readonly at: number
}

const placed = (database: Buffer): Recorded => {
  const folder = mkdtempSync(join(root, 'run-'))
  const file = join(folder, 'guard.db')
  writeFileSync(file, database, { mode: 0o600 })
  const db = new Sqlite(file)
  const at = Math.floor(Number(db.prepare('select max(start_ns) from runs').pluck().get()) / 1e6)
  db.close()
  return { folder, file, at }
}
const unpacked = (name: string): Recorded => placed(gunzipSync(readFileSync(join(recorded, name))))

/** The database of this version, as a release records it. */
const recordedNow = async (): Promise<Recorded> => {
  const folder = mkdtempSync(join(root, 'now-'))
  const [provider, server] = await Promise.all([fakeProvider(), mcpUpstream()])
  writeFileSync(join(folder, 'policy.yml'), POLICY)
  const config = `mcp: { policy: policy.yml, servers: { up: { transport: http, target: "${server.url}" } } }`
  const gateway = await startGateway({ folder, backend: 'sqlite', upstream: provider.url, config })
  await makeHistory((method, path, body, headers) => gateway.request(method, path, body, headers))
  await gateway.close()
  await Promise.all([provider.close(), server.close()])
  return placed(readFileSync(join(folder, 'guard.db')))
}

const storage = async (folder: string, ...argv: readonly string[]) => {
  writeFileSync(join(folder, 'guard-config.yml'), 'gateway_key: guard_0123456789abcdef\n', { mode: 0o600 })
  const io = fakeIo({ cwd: folder, env: {} })
  return { code: await main(['storage', ...argv], io), err: io.errText() }
}

const databases = new Map<string, () => Recorded | Promise<Recorded>>([['of this version', recordedNow]])
for (const name of files.filter((file) => file.endsWith('.db.gz'))) databases.set(name, () => unpacked(name))

it('databases of releases are small, each with the configuration of its first start', () => {
  for (const name of files.filter((file) => file.endsWith('.db.gz'))) {
    assert.ok(files.includes(name.replace('.db.gz', '.yml')), name)
    assert.ok(readFileSync(join(recorded, name)).length < 65_536, name)
  }
})

for (const [name, open] of databases)
  describe(`the database ${name}`, () => {
    let provider: FakeProvider
    let gateway: Started
    let place: Recorded
    before(async () => {
      place = await open()
      provider = await fakeProvider()
      gateway = await startGateway({
        folder: place.folder,
        backend: 'sqlite',
        upstream: provider.url,
        clock: fakeClock(place.at + 1_000),
      })
    })
    after(async () => {
      await gateway.close()
      await provider.close()
    })
    const read = async (path: string): Promise<Readonly<Record<string, unknown>>> => {
      const { status, text, json } = await gateway.request('GET', path)
      assert.equal(status, 200, `${path}: ${text}`)
      return json as Readonly<Record<string, unknown>>
    }

    it('opens, and nothing is wrong with it', async () => {
      assert.equal((await read('/api/health')).status, 'ok')
    })
    it('is read: session, decisions, runs, agent, policy, the call that was asked about', async () => {
      const { session } = await read(`/api/sessions/${KEPT.session}`)
      assert.equal((session as { requests: number }).requests, KEPT.requests)
      const { events } = await read(`/api/sessions/${KEPT.session}/events`)
      assert.equal((events as unknown[]).length >= KEPT.requests, true)
      const { runs } = await read('/api/v1/runs')
      assert.ok((runs as { trace_id: string }[]).some(({ trace_id }) => trace_id === KEPT.trace))
      assert.ok((runs as unknown[]).length >= 2)
      await read(`/api/v1/runs/${KEPT.trace}`)
      const { agents } = await read('/api/agents')
      assert.ok((agents as { id: string }[]).some(({ id }) => id === KEPT.agent))
      const policy = await read('/api/policies/default')
      assert.equal(policy.mode, 'enforce')
      assert.deepEqual((policy.rules as { rule_type: string }[])[0]?.rule_type, 'exact_repeat')
      const { approvals } = await read('/api/v1/mcp/approvals')
      const [waiting, ...others] = approvals as { tool: string }[]
      assert.deepEqual([waiting?.tool, others], ['write_file', []])
    })
    it('is written: the session goes on, its rule counts what was before', async () => {
      const headers = { 'x-guard-session-id': KEPT.session }
      const answers = []
      for (let turn = 0; turn < 3; turn++)
        answers.push((await gateway.request('POST', '/v1/chat/completions', chat(9), headers)).status)
      assert.deepEqual(answers, [200, 200, 429])
      const { session } = await read(`/api/sessions/${KEPT.session}`)
      assert.equal((session as { requests: number }).requests, KEPT.requests + 2)
      assert.equal((session as { blocked: number }).blocked, 1)
    })
    it('is sound afterwards, and opens again with all of it', async () => {
      await gateway.close()
      const { code, err } = await storage(place.folder, 'check')
      assert.equal(code, 0, err)
      gateway = await startGateway({ folder: place.folder, backend: 'sqlite', clock: fakeClock(place.at + 120_000) })
      const { session } = await read(`/api/sessions/${KEPT.session}`)
      assert.equal((session as { requests: number }).requests, KEPT.requests + 2)
    })
  })

for (const name of files.filter((file) => file.endsWith('.yml')))
  it(`the configuration ${name} is taken as it is`, async () => {
    const text = readFileSync(join(recorded, name), 'utf8')
    const { config, warnings } = await parseConfig(text, join(recorded, name), { OPENAI_API_KEY: 'sk-0123456789' })
    assert.equal(config.gateway_key, KEPT.key)
    assert.deepEqual(warnings, [])
  })

describe('a database of a newer version', () => {
  it('is refused in one sentence with a way out, by the gateway and by backups, and is not touched', async () => {
    const { folder, file } = await recordedNow()
    const db = new Sqlite(file)
    db.pragma('user_version = 2')
    db.close()
    const before = readFileSync(file)
    const refused = await startGateway({ folder, backend: 'sqlite' }).catch((error: Error) => error)
    assert.ok(refused instanceof Error)
    assert.match(
      refused.message,
      /guard\.db has format 2; this version writes format 1\. Install the newer version, or name another file/,
    )
    assert.equal((await storage(folder, 'restore', 'guard.db')).code, 2)
    assert.deepEqual(readFileSync(file), before)
  })
})
