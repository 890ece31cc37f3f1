import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { SimulationView } from '../../../../plugins/mcp/simulate/routes.ts'
import { main } from '../../../../presets/default/main.ts'
import { fakeIo } from '../../../kit/io.ts'
import { type McpService, startMcp } from '../../../kit/mcp.ts'

const rules = {
  reads: '{ id: reads, tools: [read_file], action: allow, checks: [{ path: { args: [/path], inside: [.] } }] }',
  ask: '{ id: ask, tools: [write_file], action: confirm }',
  del: '{ id: del, tools: [delete_file], action: deny }',
}
const policyOf = (some: Readonly<Record<string, string>>, byDefault = 'confirm'): string =>
  `version: 1\ndefault: ${byDefault}\nrules:\n${Object.values(some)
    .map((rule) => `  - ${rule}\n`)
    .join('')}`
const POLICY = policyOf(rules)

describe('simulating a policy on the record', () => {
  let service: McpService
  before(async () => {
    service = await startMcp({ policy: POLICY, backend: 'sqlite', storage: 'full_content_logging: true' })
    const client = await service.session()
    await client.request('tools/list')
    await client.call('read_file', { path: 'a.md' })
    await client.call('read_file', { path: '../b.md' })
    await client.call('write_file', { path: '../c.md', content: 'x' })
    await client.call('delete_file', {})
    await client.call('other', {})
    await client.call('read_file', {})
  })
  after(() => service[Symbol.asyncDispose]())

  const simulated = async (yaml: string, filters: object = {}): Promise<SimulationView> => {
    const { status, text } = await service.gateway.request('POST', '/api/v1/mcp/policies/simulate', {
      yaml,
      ...filters,
    })
    assert.equal(status, 200, text)
    return JSON.parse(text)
  }
  const counts = ({ calls, unjudged, same, differ, stricter, looser, depends }: SimulationView) => ({
    calls,
    unjudged,
    same,
    differ,
    stricter,
    looser,
    depends,
  })
  const told = ({ changes, unknown }: SimulationView) =>
    [...changes, ...unknown]
      .map(({ was, would_be, tool, calls }) => `${was} → ${would_be.join('|')} ${tool} ${calls}`)
      .sort()

  it('finds every call the same by the policy that judged it, without any argument', async () => {
    const view = await simulated(POLICY)
    assert.deepEqual(counts(view), { calls: 5, unjudged: 1, same: 5, differ: 0, stricter: 0, looser: 0, depends: 0 })
  })

  it('decides rules that look at no argument, and says which rule and which call', async () => {
    const view = await simulated(
      policyOf({ ...rules, ask: '{ id: free, tools: [write_file], action: allow }' }, 'deny'),
    )
    assert.deepEqual(told(view), ['confirm → allow write_file 1', 'confirm → deny other 1'])
    assert.deepEqual(counts(view), { calls: 5, unjudged: 1, same: 3, differ: 2, stricter: 1, looser: 1, depends: 0 })
    const free = view.changes.find(({ tool }) => tool === 'write_file')
    assert.deepEqual([free?.was_rule_ids, free?.rule_ids, free?.forwarded], [['ask'], ['free'], 0])
    assert.match(String(free?.examples[0]?.trace_id), /^[0-9a-f]{32}$/)
  })

  it('guesses nothing about arguments that are not on record', async () => {
    const reads = rules.reads.replace('inside: [.]', 'inside: [src]')
    const view = await simulated(policyOf({ ...rules, reads }))
    assert.deepEqual(told(view), ['allow → allow|deny read_file 1', 'deny → allow|deny read_file 1'])
    assert.deepEqual([view.depends, view.differ], [2, 0])
    const surely = await simulated(
      policyOf({ ...rules, reads, never: '{ id: never, tools: ["read*"], action: deny }' }),
    )
    assert.deepEqual(told(surely), ['allow → deny read_file 1'])
  })

  it('uses arguments that are on record, and knows that a call had none', async () => {
    const ask =
      '{ id: ask, tools: [write_file], action: allow, checks: [{ path: { args: [/path], inside: [src] } }], on_violation: deny }'
    const only = '{ id: bare, tools: [other], only: [], action: allow }'
    const view = await simulated(policyOf({ ...rules, ask, only }))
    assert.deepEqual(told(view), ['confirm → allow other 1', 'confirm → deny write_file 1'])
    assert.equal(view.depends, 0)
  })

  it('counts limits in the order of the calls, and narrows by server and time', async () => {
    const limit = '{ id: few, tools: ["*"], action: rate_limit, limit: { calls: 1, per: 1h, key: server } }'
    const view = await simulated(`version: 1\ndefault: allow\nrules:\n  - ${limit}\n`)
    assert.deepEqual(told(view), [
      'confirm → rate_limit other 1',
      'confirm → rate_limit write_file 1',
      'deny → rate_limit delete_file 1',
      'deny → rate_limit read_file 1',
    ])
    assert.equal((await simulated(POLICY, { server_id: 'none' })).calls, 0)
    assert.equal((await simulated(POLICY, { since: '1h', server_id: 'up' })).calls, 5)
  })

  it('refuses what is no policy, and tells of tests that fail', async () => {
    const post = (body: object) => service.gateway.request('POST', '/api/v1/mcp/policies/simulate', body)
    const broken = await post({ yaml: 'version: 1\nrulez: []\n' })
    assert.equal(broken.status, 400)
    assert.match(broken.text, /INVALID_POLICY.*line 2, column 1.*rulez/)
    assert.equal((await post({ yaml: POLICY, since: 'never' })).status, 400)
    const failing = `${POLICY}tests:\n  - { call: { tool: delete_file }, expect: allow }\n`
    assert.equal((await simulated(failing)).failed_tests, 1)
  })

  it('as a command exits with 1 where something would differ', async () => {
    await writeFile(join(service.folder, 'same.yml'), POLICY)
    await writeFile(
      join(service.folder, 'other.yml'),
      policyOf({ ...rules, ask: '{ id: f2, tools: [write_file], action: allow }' }),
    )
    await writeFile(join(service.folder, 'src.yml'), POLICY.replace('inside: [.]', 'inside: [src]'))
    await service.gateway.close()
    const config = 'gateway_key: guard_0123456789abcdef\nserver: { port: 1 }\nstorage: { file: guard.db }\n'
    await writeFile(join(service.folder, 'guard-config.yml'), config, { mode: 0o600 })
    const guard = async (...argv: readonly string[]) => {
      const io = fakeIo({ cwd: service.folder })
      return { code: await main(['mcp', 'simulate', ...argv], io), out: io.outText(), err: io.errText() }
    }
    const same = await guard('same.yml')
    assert.deepEqual([same.code, same.err], [0, ''])
    assert.match(same.out, /^5 calls on record, by policy [0-9a-f]{12}\n {2}5 the same, 0 would differ/)
    const other = await guard('other.yml')
    assert.equal(other.code, 1)
    assert.match(
      other.out,
      /would differ:\nwas +would be +calls +let through +tool +rules +example\nconfirm +allow +1 +0 +write_file on up +f2 +\/replay\/[0-9a-f]+\?span=/,
    )
    const src = await guard('src.yml')
    assert.equal(src.code, 0)
    assert.match(src.out, /depends on arguments:\n.*\n(?:allow|deny) +allow or deny/)
    assert.equal((await guard('src.yml', '--strict')).code, 1)
    assert.equal(JSON.parse((await guard('src.yml', '--json')).out).depends, 2)
    assert.match((await guard('none.yml')).err, /does not exist/)
  })
})
