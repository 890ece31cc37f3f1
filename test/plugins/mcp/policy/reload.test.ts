import assert from 'node:assert/strict'
import { mkdtemp, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { type Gateway, GuardError } from 'guard-gateway/core'
import { Type } from 'typebox'
import { type CheckFinding, mcpCheck } from '#lib/mcp-check'
import { openPolicies, type Policies, type PolicyChange } from '../../../../plugins/mcp/policy/index.ts'
import { withoutProcesses } from '../../../kit/no-processes.ts'
import { aCall, openGateway } from './kit.ts'

let preparing = Promise.resolve()
let prepared = 0
const slow = mcpCheck({
  id: 'slow',
  schema: Type.Object({}),
  prepare: () => {
    prepared++
    return preparing
  },
  find: (): readonly CheckFinding[] => [],
})
const stubborn = mcpCheck({
  id: 'stubborn',
  schema: Type.Object({ ok: Type.Boolean() }),
  compile: async (options) => {
    if (!options.ok) throw new GuardError('INVALID_POLICY', 'is not ok')
    return options
  },
  find: (): readonly CheckFinding[] => [],
})

describe('a policy file', () => {
  let gateway: Gateway
  let folder = ''
  let file = ''
  let faults: unknown[] = []
  before(async () => {
    gateway = await openGateway(slow, stubborn)
  })
  after(() => gateway.close())
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guard-policy-'))
    file = join(folder, 'policy.yml')
    faults = []
  })
  afterEach(() => rm(folder, { recursive: true }))

  const policyText = (action: string, more = ''): string =>
    `version: 1\nrules:\n  - { id: r, tools: [t], action: ${action} }\n${more}`
  const open = (): Promise<Policies> => openPolicies(gateway, { file, fault: (error) => faults.push(error) })
  const said = async (policies: Policies): Promise<string> =>
    (await (await policies.current()).judge(aCall('t'), [])).action

  /** At once, so that nobody reads half of it. */
  const replace = async (text: string): Promise<void> => {
    await writeFile(`${file}.new`, text)
    await rename(`${file}.new`, file)
  }

  it('is read again when it changed, before the next call is judged', async () => {
    await writeFile(file, policyText('allow'))
    const policies = await open()
    const { version } = policies.state()
    assert.equal(await said(policies), 'allow')
    await writeFile(file, policyText('deny'))
    assert.equal(await said(policies), 'deny')
    const state = policies.state()
    assert.deepEqual([state.file, state.mode, state.error], [file, 'enforce', null])
    assert.notEqual(state.version, version)
  })
  it('counts as changed by its time alone, and when another file takes its place', async () => {
    await writeFile(file, policyText('allow'))
    const policies = await open()
    const changes: PolicyChange[] = []
    policies.onChange((change) => changes.push(change))
    await utimes(file, 1_000_000, 1_000_000)
    assert.equal(await said(policies), 'allow')
    assert.equal(changes.length, 1)
    await writeFile(`${file}.new`, policyText('deny '))
    await utimes(`${file}.new`, 1_000_000, 1_000_000)
    await rename(`${file}.new`, file)
    assert.equal(await said(policies), 'deny')
  })
  it('is not read while nothing changes', async () => {
    await writeFile(file, policyText('allow'))
    const policies = await open()
    const first = await policies.current()
    assert.equal(await policies.current(), first)
  })
  it('that became wrong leaves the last good policy in force, and says so once', async () => {
    await writeFile(file, policyText('allow'))
    const policies = await open()
    const changes: PolicyChange[] = []
    policies.onChange((change) => changes.push(change))
    await writeFile(file, 'version: 1\nrules:\n  - { id: r, tool: [t], action: deny }\n')
    assert.deepEqual([await said(policies), await said(policies)], ['allow', 'allow'])
    assert.deepEqual(
      changes.map(({ kind }) => kind),
      ['policy.rejected'],
    )
    assert.equal(policies.state().error, 'policy.yml:3:14: rules/0: unknown key "tool"; did you mean "tools"?')
    assert.equal(faults.length, 1)
    await writeFile(file, policyText('confirm'))
    assert.equal(await said(policies), 'confirm')
    assert.equal(policies.state().error, null)
    assert.deepEqual(
      changes.map(({ kind }) => kind),
      ['policy.rejected', 'policy.changed'],
    )
  })
  it('that could not be read for no fault of its own is read again for the next call', async () => {
    await writeFile(file, policyText('allow'))
    const policies = await open()
    await writeFile(file, policyText('deny', '# why\n'.repeat(1_000)))
    assert.equal(await withoutProcesses(() => said(policies)), 'allow')
    assert.match(String(policies.state().error), /^policy\.yml: The text was not read: .* cannot be started/)
    assert.equal(await said(policies), 'deny')
    assert.equal(policies.state().error, null)
  })
  it('that fails its own tests, or that a check refuses, is refused', async () => {
    await writeFile(file, policyText('allow'))
    const policies = await open()
    await writeFile(file, policyText('allow', 'tests:\n  - { call: { tool: t }, expect: deny }\n'))
    assert.equal(await said(policies), 'allow')
    assert.equal(policies.state().error, 'policy.yml: test t {}: expected deny, got allow (rule r)')
    await writeFile(
      file,
      'version: 1\nrules:\n  - { id: r, tools: [t], action: allow, checks: [{ stubborn: { ok: false } }] }\n',
    )
    assert.equal(await said(policies), 'allow')
    assert.equal(policies.state().error, 'policy.yml:3:52: rules/0/checks/0/stubborn: is not ok')
  })
  it('that is gone leaves the last good policy in force', async () => {
    await writeFile(file, policyText('deny'))
    const policies = await open()
    await rm(file)
    assert.equal(await said(policies), 'deny')
    assert.match(String(policies.state().error), /^policy\.yml: does not exist/)
    await writeFile(file, policyText('allow'))
    assert.equal(await said(policies), 'allow')
  })
  it('is read once for calls that come meanwhile; they wait, and are judged by the newest', async () => {
    await writeFile(file, policyText('allow'))
    const policies = await open()
    const changes: PolicyChange[] = []
    policies.onChange((change) => changes.push(change))
    let go = (): void => undefined
    preparing = new Promise<void>((resolve) => {
      go = resolve
    })
    prepared = 0
    await replace('version: 1\nrules:\n  - { id: r, tools: [t], action: confirm, checks: [{ slow: {} }] }\n')
    const calls = Array.from({ length: 5 }, () => said(policies))
    await replace(policyText('deny'))
    const late = said(policies)
    go()
    assert.deepEqual(await Promise.all([...calls, late]), Array(6).fill('deny'))
    assert.ok(changes.length <= 2)
    assert.ok(prepared <= 1)
  })
  it('keeps counting limits over a reload, until the session ends', async () => {
    const limited = (more: string) =>
      `version: 1\nrules:\n  - { id: r, tools: [t], action: rate_limit, limit: { calls: 1, per: 1h } }\n${more}`
    await writeFile(file, limited(''))
    const policies = await open()
    assert.equal(await said(policies), 'allow')
    await writeFile(file, limited('mode: shadow\n'))
    assert.equal(await said(policies), 'rate_limit')
    policies.endSession('mcp_1')
    assert.equal(await said(policies), 'allow')
  })
  it('that cannot be used at the start is refused, each fault in a line', async () => {
    await assert.rejects(open(), { code: 'INVALID_POLICY', message: `policy.yml: does not exist (${file})` })
    await writeFile(file, 'version: 2\nrules: [{}]\n')
    await assert.rejects(open(), {
      code: 'INVALID_POLICY',
      message: [
        'policy.yml:1:1: version: must be 1, is 2',
        'policy.yml:2:9: rules/0: the key "id" is missing',
        'policy.yml:2:9: rules/0: the key "tools" is missing',
        'policy.yml:2:9: rules/0: the key "action" is missing',
      ].join('\n'),
    })
  })
  it('tells a listener no more once it stopped listening, and outlives one that throws', async () => {
    await writeFile(file, policyText('allow'))
    const policies = await open()
    let told = 0
    const stop = policies.onChange(() => told++)
    policies.onChange(() => {
      throw new Error('listener')
    })
    await writeFile(file, policyText('deny'))
    assert.equal(await said(policies), 'deny')
    stop()
    await writeFile(file, policyText('allow'))
    assert.equal(await said(policies), 'allow')
    assert.deepEqual([told, faults.length], [1, 2])
  })
})
