import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import { type Dialect, dialectOf, type Step } from '../kit/dialogue.ts'
import { decisionOf, type Service, startService } from '../kit/service.ts'

/** What was recorded of the first three requests below when long texts had a digest of their own: MurmurHash3, sealed by ChaCha20. */
const recorded = [
  {
    fingerprint: 'f737d42ef90a75a551f9acb0a68119c9eee855ac74151cba7f7b7593320eff23',
    chain_tip: '3aac6fd0ad3a817aa0edd24ddda91fbc7ab894e589e7fb703324a2f82042a910',
    talk_tip: '7ab894e589e7fb703324a2f82042a910',
    turns: '',
  },
  {
    fingerprint: 'e57d198cc755b2126d82fef590e6f868407d67660b7fcbce619baf87e2aaece2',
    chain_tip: '3aac6fd0ad3a817aa0edd24ddda91fbce6879d6e4c7ff947efb8eb83c09f6b53',
    talk_tip: 'e6879d6e4c7ff947efb8eb83c09f6b53',
    turns: '2,run_tests cdc3544cec4ca83f39d560f2ae470706 69c1e0668ac3b95bee43673196c6970a',
  },
  {
    fingerprint: 'f070bed38bcaeb8fceab54bfa5cf683606bc8dea1dae47e22f79bba04ae135df',
    chain_tip: '3aac6fd0ad3a817aa0edd24ddda91fbc3036693ff5d1ea948fddf46694069b02',
    talk_tip: '3036693ff5d1ea948fddf46694069b02',
    turns: '4,run_tests bd7e13d109c5e505813184f67eb360a8 2f8e0463a67b592d44004f2aee3a261d',
  },
]

interface Placed {
  readonly id: string
  readonly thread: string
  readonly parent: string | null
  readonly root: boolean
  readonly turns: string | null
}

const dialect: Dialect = dialectOf('chat_completions')
const begin: Step = { user: `Repair the failing test. ${'It is about dates. '.repeat(10)}` }
const step = (n: number): Step => ({
  tool: 'run_tests',
  args: { n },
  result: `${n} tests passed, of them: ${'one more line; '.repeat(20)}`,
})
/** The session before its request of this number. */
const grown = (requests: number): Step[] => [begin, ...Array.from({ length: requests }, (_, n) => step(n))]

describe('a database in which long texts are known by an older digest', () => {
  let folder: string
  let service: Service
  const start = () => startService({ folder, backend: 'sqlite', config: 'default_mode: enforce' })
  const send = async (requests: number) =>
    decisionOf(await service.send(dialect, grown(requests), { 'x-guard-session-id': 'open' }))
  const rows = async (): Promise<readonly Placed[]> =>
    (await service.gateway.gateway.storage.find('calls', { order: ['recorded', 'asc'] })).rows
  const passed = { status: 200, decision: 'allow', reason: null }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guard-older-digest-'))
    service = await start()
    for (const requests of recorded.keys()) assert.deepEqual(await send(requests), passed)
    // places and keys of calls stay as they are: only the hashes of long texts are others
    const now = await rows()
    assert.equal(now.length, 3)
    await service[Symbol.asyncDispose]()
    const db = new Sqlite(join(folder, 'guard.db'))
    const write = db.prepare('update calls set fingerprint = ?, chain_tip = ?, talk_tip = ?, turns = ? where id = ?')
    recorded.forEach(({ fingerprint, chain_tip, talk_tip, turns }, at) => {
      const row = now[at]
      // earlier versions kept no mark of a call's id
      assert.equal(row?.turns?.replace(/ +#\w+$/, '').slice(0, -32), turns.slice(0, -32))
      assert.equal(write.run(fingerprint, chain_tip, talk_tip, turns, row?.id).changes, 1)
    })
    db.close()
    service = await start()
  })
  after(async () => {
    await service[Symbol.asyncDispose]()
    await rm(folder, { recursive: true })
  })

  it('goes on: an open session begins one new thread, and goes on in that', async () => {
    for (const requests of [3, 4, 5]) assert.deepEqual(await send(requests), passed)
    const [first, , , fourth, fifth, sixth] = await rows()
    assert.notEqual(fourth?.thread, first?.thread)
    assert.deepEqual([fourth?.root, fourth?.parent], [true, null])
    assert.deepEqual([fifth?.thread, fifth?.parent], [fourth?.thread, fourth?.id])
    assert.deepEqual([sixth?.thread, sixth?.parent], [fourth?.thread, fifth?.id])
    assert.equal((await service.session('open')).requests, 6)
    assert.doesNotMatch(service.gateway.logText(), /"level":"error"/)
  })

  it('is read: its history is told, and rules are tried on it', async () => {
    assert.equal((await service.events('open')).filter(({ name }) => name === 'policy.decision').length, 6)
    const rules = [{ rule_type: 'tool_repeat', params: { result_aware: true } }, { rule_type: 'exact_repeat' }]
    const { status, json } = await service.request('POST', '/api/policies/default/simulate', { rules })
    const { requests, flagged } = json as { readonly requests: number; readonly flagged: readonly unknown[] }
    assert.deepEqual([status, requests, flagged], [200, 6, []])
  })
})
