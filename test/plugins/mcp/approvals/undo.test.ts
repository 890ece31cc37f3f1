import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { Approvals, approvalById, decideApproval, undoApproval } from '../../../../plugins/mcp/approvals/index.ts'
import { callNeedingConsent, type Kit, recordsOf, startKit, TIMEOUT_MS, withFolder } from '../audit/records-kit.ts'

let kit: Kit
const ask = (more: Parameters<typeof callNeedingConsent>[1] = {}) => callNeedingConsent(kit, more)
const allow = (id: string, scope: 'once' | 'session' = 'once') =>
  decideApproval(kit.gateway, kit.approvals, id, { action: 'allow', scope }, 'ui')
const undo = (id: string) => undoApproval(kit.gateway, kit.approvals, id, 'ui')

describe('an allowance that is taken back', () => {
  beforeEach(async () => {
    kit = await startKit()
  })
  afterEach(async () => {
    await kit.close()
    assert.deepEqual(kit.faults, [])
  })

  it('waits for an answer again with all its time, is on record, and lets nothing through', async () => {
    const { approval } = await ask()
    kit.clock.advance(TIMEOUT_MS - 1000)
    await allow(approval.id, 'session')
    kit.clock.advance(2000)
    const undone = await undo(approval.id)
    assert.deepEqual(
      [undone.status, undone.scope, undone.decided_via, undone.preview],
      ['pending', 'once', null, approval.preview],
    )
    assert.equal((await ask()).state, 'asked')
    kit.clock.advance(TIMEOUT_MS - 1000)
    await allow(approval.id)
    const retry = await ask()
    assert.deepEqual([retry.state, retry.approval.id], ['granted', approval.id])
    const names = (await recordsOf(kit))
      .filter(({ kind }) => kind === 'approval')
      .map(({ name, reason }) => [name, reason])
    assert.deepEqual(
      names.find(([name]) => name === 'approval.undone'),
      ['approval.undone', 'Taken back through ui.'],
    )
  })
  it('that was used says so, and stays what it is', async () => {
    const { approval } = await ask()
    await allow(approval.id)
    await ask()
    await assert.rejects(undo(approval.id), { code: 'APPROVAL_DECIDED', message: /was used at .*cannot be taken back/ })
    assert.equal((await approvalById(kit.gateway, kit.approvals, approval.id)).status, 'consumed')
  })
  it('for a session, used before, ends: a further call asks again', async () => {
    const { approval } = await ask()
    await allow(approval.id, 'session')
    assert.equal((await ask()).state, 'granted')
    const ended = await undo(approval.id)
    assert.deepEqual([ended.status, ended.reason, ended.used_count], ['expired', 'taken_back', 1])
    const next = await ask()
    assert.equal(next.state, 'asked')
    assert.notEqual(next.approval.id, approval.id)
  })
  it('is none where nothing is allowed', async () => {
    const { approval } = await ask()
    await assert.rejects(undo(approval.id), { code: 'APPROVAL_DECIDED', message: /waits for a decision/ })
    await decideApproval(kit.gateway, kit.approvals, approval.id, { action: 'deny' }, 'ui')
    await assert.rejects(undo(approval.id), { code: 'APPROVAL_DECIDED', message: /is denied/ })
    kit.clock.advance(TIMEOUT_MS)
    await assert.rejects(undo(approval.id), { code: 'APPROVAL_EXPIRED' })
    await assert.rejects(undo('apr_none'), { code: 'APPROVAL_NOT_FOUND' })
  })
})

/** Takes a new allowance back and uses it, both at once; which of the two was done. */
const raced = async (round: number, other: Kit): Promise<readonly ['undone' | 'used', string]> => {
  const args = { round }
  const { approval } = await ask({ args })
  await allow(approval.id)
  const from = round % 2 === 0 ? kit : other
  const use = async () => (await ask({ args })).state === 'granted'
  const take = () =>
    undoApproval(from.gateway, from.approvals, approval.id, 'ui').then(
      () => true,
      () => false,
    )
  const isUndoFirst = round % 4 < 2
  const first = isUndoFirst ? take() : use()
  const [one, two] = await Promise.all([first, isUndoFirst ? use() : take()])
  assert.notEqual(one, two, `round ${round}`)
  const fresh = new Approvals(kit.gateway, kit.audit, kit.approvals.options)
  return [one === isUndoFirst ? 'undone' : 'used', (await approvalById(kit.gateway, fresh, approval.id)).status]
}

describe('taking back and using at the same time', () => {
  it('exactly one wins, in one process and from another', () =>
    withFolder(async (folder) => {
      kit = await startKit({ folder })
      const other = await startKit({ folder })
      const done = new Set<string>()
      for (let round = 0; round < 24; round++) {
        const [what, status] = await raced(round, other)
        assert.equal(status, what === 'undone' ? 'pending' : 'consumed')
        done.add(what)
      }
      assert.deepEqual([...done].sort(), ['undone', 'used'])
      await other.close()
      await kit.close()
    }))
})
