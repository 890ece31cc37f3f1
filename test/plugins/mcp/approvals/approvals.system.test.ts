import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { Approvals, approvalById, decideApproval } from '../../../../plugins/mcp/approvals/index.ts'
import { callNeedingConsent, type Kit, recordsOf, spansOf, startKit, TIMEOUT_MS } from '../audit/records-kit.ts'

let kit: Kit
const start = async (): Promise<void> => {
  kit = await startKit()
}
const stop = async (): Promise<void> => {
  await kit.close()
  assert.deepEqual(kit.faults, [])
}
const ask = (more: Parameters<typeof callNeedingConsent>[1] = {}) => callNeedingConsent(kit, more)
const decide = (id: string, action: 'allow' | 'deny', scope: 'once' | 'session' = 'once') =>
  decideApproval(kit.gateway, kit.approvals, id, { action, scope }, 'api')
const statusOf = async (id: string) => (await approvalById(kit.gateway, kit.approvals, id)).status

describe('asking for consent', () => {
  beforeEach(start)
  afterEach(stop)

  it('asks once and answers the same call with the same approval', async () => {
    const first = await ask()
    const again = await ask()
    assert.deepEqual([first.state, again.state], ['asked', 'asked'])
    assert.equal(again.approval.id, first.approval.id)
    assert.match(first.approval.id, /^apr_[0-9a-z]{26}$/)
  })
  it('asks for every other call again: tool, arguments, session, server', async () => {
    const { approval } = await ask()
    const others = [
      await ask({ question: { tool: 'other' } }),
      await ask({ args: { path: 'b' } }),
      await ask({ question: { session_id: 'mcp_another' } }),
      await ask({ question: { server_id: 'db' } }),
    ]
    assert.equal(new Set([approval.id, ...others.map((other) => other.approval.id)]).size, 5)
  })
  it('tells tools apart by their names as sent, though secrets in them are stored hidden', async () => {
    const first = await ask({ question: { tool: `run_ghp_${'a1B2'.repeat(9)}` } })
    const second = await ask({ question: { tool: `run_ghp_${'c3D4'.repeat(9)}` } })
    assert.notEqual(second.approval.id, first.approval.id)
    const stored = await approvalById(kit.gateway, kit.approvals, first.approval.id)
    assert.match(stored.tool, /REDACTED/)
  })
  it('lets exactly one retry through after a yes, and asks again then', async () => {
    const { approval } = await ask()
    assert.equal((await decide(approval.id, 'allow')).status, 'allowed')
    const retry = await ask()
    assert.deepEqual([retry.state, retry.approval.status, retry.approval.id], ['granted', 'consumed', approval.id])
    const third = await ask()
    assert.equal(third.state, 'asked')
    assert.notEqual(third.approval.id, approval.id)
    assert.equal(await statusOf(approval.id), 'consumed')
  })
  it('lets one of many parallel retries through; the others share one new question', async () => {
    const { approval } = await ask()
    await decide(approval.id, 'allow')
    const retries = await Promise.all(Array.from({ length: 8 }, () => ask()))
    assert.equal(retries.filter(({ state }) => state === 'granted').length, 1)
    const asked = new Set(retries.filter(({ state }) => state === 'asked').map((one) => one.approval.id))
    assert.equal(asked.size, 1)
    assert.equal(asked.has(approval.id), false)
  })
  it('lets one through also where two processes found the same yes before either took it', async () => {
    const { approval } = await ask()
    await decide(approval.id, 'allow')
    const { promise: bothCame, resolve } = Promise.withResolvers<void>()
    let came = 0
    const before = () => {
      if (++came === 2) resolve()
      return bothCame
    }
    const another = new Approvals(kit.gateway, kit.audit, kit.approvals.options)
    const retries = await Promise.all([ask({ before }), ask({ before, approvals: another })])
    assert.deepEqual(retries.map(({ state }) => state).sort(), ['asked', 'granted'])
    const forwarded = (await recordsOf(kit)).filter((row) => row.forwarded === true)
    assert.deepEqual(
      forwarded.map(({ approval_id }) => approval_id),
      [approval.id],
    )
  })
  it('never lends a yes to other arguments, also in the scope of a session', async () => {
    const { approval } = await ask()
    await decide(approval.id, 'allow', 'session')
    assert.equal((await ask({ args: { path: 'other' } })).state, 'asked')
    assert.equal((await ask()).state, 'granted')
    assert.equal((await ask()).state, 'granted')
    const { status, used_count } = await approvalById(kit.gateway, kit.approvals, approval.id)
    assert.deepEqual([status, used_count], ['allowed', 2])
  })
  it('answers retries of a denied call as denied, without a new question, until the denial expires', async () => {
    const { approval } = await ask()
    await decide(approval.id, 'deny')
    const retry = await ask()
    assert.deepEqual([retry.state, retry.approval.id], ['denied', approval.id])
    kit.clock.advance(TIMEOUT_MS)
    assert.equal((await ask()).state, 'asked')
    assert.equal(await statusOf(approval.id), 'expired')
  })
  it('asks again when the definition of the tool is another one, and the old yes is void', async () => {
    const { approval } = await ask()
    await decide(approval.id, 'allow')
    const retry = await ask({ question: { tool_fingerprint: 'f2' } })
    assert.equal(retry.state, 'asked')
    const old = await approvalById(kit.gateway, kit.approvals, approval.id)
    assert.deepEqual([old.status, old.reason], ['expired', 'tool_changed'])
  })
  it('asks again when another rule wants consent too, not when one of them has gone', async () => {
    const { approval } = await ask({ question: { rule_ids: ['r1', 'r2'] } })
    await decide(approval.id, 'allow')
    assert.equal((await ask({ question: { rule_ids: ['r1', 'r3'] } })).state, 'asked')
    assert.equal(await statusOf(approval.id), 'expired')
    const next = await ask({ question: { rule_ids: ['r1'] } })
    await decide(next.approval.id, 'allow')
    assert.equal((await ask({ question: { rule_ids: ['r3'] } })).state, 'granted')
  })
  it('asks again when a yes would forward other arguments than those that were shown', async () => {
    const changed = { sent: { path: 'a', dry: true }, sent_argument_hash: 'h1' }
    const { approval } = await ask({ question: changed })
    await decide(approval.id, 'allow')
    const other = await ask({ question: { sent: { path: 'b' }, sent_argument_hash: 'h2' } })
    assert.equal(other.state, 'asked')
    const plain = await ask()
    assert.equal(new Set([approval.id, other.approval.id, plain.approval.id]).size, 3)
    await decide(plain.approval.id, 'deny')
    assert.equal((await ask({ question: changed })).state, 'denied')
  })
  it('leaves the approval untouched where the record of the call is not written', async () => {
    const { approval } = await ask()
    await decide(approval.id, 'allow')
    const { rows } = await kit.gateway.storage.find('mcp_audit', {})
    await assert.rejects(
      kit.approvals.decide({ ...questionOf(approval), entry: (await ask({ args: { x: 1 } })).entry }, async () => {
        throw new Error('disk')
      }),
      /disk/,
    )
    assert.equal(await statusOf(approval.id), 'allowed')
    assert.ok(rows.length > 0)
    assert.equal((await ask()).state, 'granted')
  })
})

const questionOf = ({ argument_hash }: { readonly argument_hash: string }) => ({
  server_id: 'fs',
  session_id: 'mcp_session_of_the_tests_0000000000000000000000',
  project_id: 'default',
  client: null,
  tool: 'write_file',
  argument_hash,
  tool_fingerprint: 'f1',
  rule_ids: ['r1'],
  findings: [],
  message: null,
  policy_version: 'v1',
  arguments: { path: 'a' },
})

describe('deciding', () => {
  beforeEach(start)
  afterEach(stop)

  it('refuses what is unknown, decided, used or expired, and says its status', async () => {
    await assert.rejects(decide('apr_nobody', 'allow'), { code: 'APPROVAL_NOT_FOUND' })
    const { approval } = await ask()
    await decide(approval.id, 'allow')
    const decided = { code: 'APPROVAL_DECIDED', place: { state: 'allowed' } }
    await assert.rejects(decide(approval.id, 'deny'), decided)
    await ask()
    await assert.rejects(decide(approval.id, 'allow'), { code: 'APPROVAL_DECIDED', place: { state: 'consumed' } })
    const late = await ask({ args: { late: true } })
    kit.clock.advance(TIMEOUT_MS)
    await assert.rejects(decide(late.approval.id, 'allow'), { code: 'APPROVAL_EXPIRED', place: { state: 'expired' } })
  })
  it('of two decisions at the same time one counts', async () => {
    const { approval } = await ask()
    const both = await Promise.allSettled([decide(approval.id, 'allow'), decide(approval.id, 'deny')])
    assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
    const lost = both.find((one) => one.status === 'rejected')
    assert.equal(lost?.reason.code, 'APPROVAL_DECIDED')
  })
  it('counts though another process writes to the same run again and again', async () => {
    const { approval } = await ask()
    const { storage } = kit.gateway
    const { write } = storage
    let lost = 0
    storage.write = async (batch) => ++lost > 6 && write(batch)
    try {
      assert.equal((await decide(approval.id, 'allow')).status, 'allowed')
    } finally {
      storage.write = write
    }
  })
  it('gives the client the whole time again after a late yes', async () => {
    const { approval } = await ask()
    kit.clock.advance(TIMEOUT_MS - 1)
    await decide(approval.id, 'allow')
    kit.clock.advance(TIMEOUT_MS - 1)
    assert.equal((await ask()).state, 'granted')
  })
  it('a yes for a session is good for eight hours at most', async () => {
    const { approval } = await ask()
    await decide(approval.id, 'allow', 'session')
    kit.clock.advance(8 * 3_600_000 - 1)
    assert.equal((await ask()).state, 'granted')
    kit.clock.advance(1)
    assert.equal((await ask()).state, 'asked')
  })
  it('is on record, with the end of the waiting', async () => {
    const { approval, entry } = await ask()
    kit.clock.advance(5_000)
    await decide(approval.id, 'allow')
    const row = (await recordsOf(kit)).find(({ name }) => name === 'approval.allowed')
    assert.deepEqual([row?.kind, row?.approval_id, row?.trace_id], ['approval', approval.id, entry.trace_id])
    const [wait] = await spansOf(kit, entry.trace_id, 'approval.wait')
    assert.deepEqual([wait?.status, wait?.kind, wait?.parent_id], ['ok', 'policy', entry.span_id])
    assert.equal((wait?.end_ns ?? 0n) - (wait?.start_ns ?? 0n), 5_000_000_000n)
    const denied = await ask({ args: { no: 1 } })
    await decide(denied.approval.id, 'deny')
    assert.equal((await spansOf(kit, denied.entry.trace_id, 'approval.wait'))[0]?.status, 'error')
  })
})
