import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { SESSION_SCOPE_MS } from '../../../../plugins/mcp/approvals/approvals.ts'
import { approvalById, decideApproval } from '../../../../plugins/mcp/approvals/index.ts'
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

describe('expiry', () => {
  beforeEach(start)
  afterEach(stop)

  it('holds when it is read, before anybody has written it down', async () => {
    const { approval } = await ask()
    kit.clock.advance(TIMEOUT_MS - 1)
    assert.equal(await statusOf(approval.id), 'pending')
    kit.clock.advance(1)
    assert.equal(await statusOf(approval.id), 'expired')
    assert.equal((await kit.gateway.storage.get('mcp_approvals', approval.id))?.status, 'pending')
  })
  it('is written down by the sweep, with its record and the end of the waiting', async () => {
    const { approval, entry } = await ask()
    const allowed = await ask({ args: { b: 1 } })
    await decide(allowed.approval.id, 'allow')
    await kit.approvals.sweep()
    assert.equal((await kit.gateway.storage.get('mcp_approvals', approval.id))?.status, 'pending')
    kit.clock.advance(TIMEOUT_MS)
    await kit.approvals.sweep()
    for (const id of [approval.id, allowed.approval.id]) {
      const row = await kit.gateway.storage.get('mcp_approvals', id)
      assert.deepEqual([row?.status, row?.reason, row?.preview, row?.open_key], ['expired', 'timeout', null, null])
    }
    const names = (await recordsOf(kit)).map(({ name }) => name)
    assert.equal(names.filter((name) => name === 'approval.expired').length, 2)
    assert.equal((await spansOf(kit, entry.trace_id, 'approval.wait'))[0]?.status, 'cancelled')
  })
  it('is written down every 30 seconds, until that is ended', async (test) => {
    test.mock.timers.enable({ apis: ['setInterval'] })
    const { approval } = await ask()
    kit.approvals.begin()
    kit.clock.advance(TIMEOUT_MS)
    test.mock.timers.tick(29_999)
    await kit.audit.flush()
    assert.equal((await kit.gateway.storage.get('mcp_approvals', approval.id))?.status, 'pending')
    test.mock.timers.tick(1)
    while ((await kit.gateway.storage.get('mcp_approvals', approval.id))?.status === 'pending') await kit.audit.flush()
    const next = await ask()
    kit.approvals.end()
    kit.clock.advance(TIMEOUT_MS)
    test.mock.timers.tick(60_000)
    await kit.audit.flush()
    assert.equal((await kit.gateway.storage.get('mcp_approvals', next.approval.id))?.status, 'pending')
  })
  it('comes with the end of the session, for its approvals alone', async () => {
    const mine = await ask()
    const allowed = await ask({ args: { b: 1 } })
    await decide(allowed.approval.id, 'allow', 'session')
    const other = await ask({ question: { session_id: 'mcp_another' } })
    await kit.approvals.expireSession(mine.approval.session_id)
    assert.deepEqual(
      [await statusOf(mine.approval.id), await statusOf(allowed.approval.id), await statusOf(other.approval.id)],
      ['expired', 'expired', 'pending'],
    )
    await assert.rejects(decide(mine.approval.id, 'allow'), { code: 'APPROVAL_EXPIRED' })
  })
  it('comes with another definition of the tool, before anybody can say yes to the old one', async () => {
    const { approval } = await ask()
    const other = await ask({ question: { session_id: 'mcp_of_another_process' } })
    const isLocal = (session_id: string) => session_id === approval.session_id
    await kit.approvals.expireTools('fs', isLocal, (tool) => (tool === 'write_file' ? 'f1' : null))
    await kit.approvals.expireTools('db', isLocal, () => 'f2')
    assert.equal(await statusOf(approval.id), 'pending')
    await kit.approvals.expireTools('fs', isLocal, () => 'f2')
    assert.equal(await statusOf(other.approval.id), 'pending')
    await assert.rejects(decide(approval.id, 'allow'), { code: 'APPROVAL_EXPIRED', place: { state: 'expired' } })
  })
  it('is counted from the question on, though nobody examines it before the wall clock is set back', async () => {
    const { approval } = await ask()
    kit.clock.jump(-3_600_000)
    kit.clock.advance(TIMEOUT_MS)
    assert.equal(await statusOf(approval.id), 'expired')
  })
  it('holds by the monotonic clock where the wall clock is set back, and at once where it is set on', async () => {
    const { approval } = await ask()
    await decide(approval.id, 'allow')
    assert.equal(await statusOf(approval.id), 'allowed')
    kit.clock.jump(-3_600_000)
    kit.clock.advance(TIMEOUT_MS)
    assert.equal((await ask()).state, 'asked')
    assert.equal(await statusOf(approval.id), 'expired')
    const session = await ask({ args: { c: 1 } })
    await decide(session.approval.id, 'allow', 'session')
    assert.equal((await ask({ args: { c: 1 } })).state, 'granted')
    kit.clock.jump(-SESSION_SCOPE_MS)
    kit.clock.advance(SESSION_SCOPE_MS)
    assert.equal((await ask({ args: { c: 1 } })).state, 'asked')
    const other = await ask({ args: { b: 1 } })
    kit.clock.jump(TIMEOUT_MS)
    assert.equal(await statusOf(other.approval.id), 'expired')
  })
})

describe('the waiting for an answer', () => {
  beforeEach(start)
  afterEach(stop)

  for (const [name, jump] of [
    ['on', 40 * 86_400_000],
    ['back', -3_600_000],
  ] as const)
    it(`is as long as it was where the wall clock is set ${name} meanwhile`, async () => {
      const { approval, entry } = await ask()
      kit.clock.advance(1_000)
      kit.clock.jump(jump)
      kit.clock.advance(500)
      // time that is over by the wall clock is over, and the waiting ends there all the same
      if (jump < 0) await decide(approval.id, 'allow')
      else await kit.approvals.sweep()
      await kit.audit.flush()
      const [span] = await spansOf(kit, entry.trace_id, 'approval.wait')
      assert.ok(span && span.end_ns !== null)
      assert.equal(span.end_ns - span.start_ns, 1_500_000_000n)
    })
})
