import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { MemoryBudget } from '#lib/memory-budget'
import { AuditRetention } from '../../../../plugins/replay/maintenance/audit-retention.ts'
import { Retention } from '../../../../plugins/replay/maintenance/retention.ts'
import type { Retention as Settings } from '../../../../plugins/replay/options.ts'
import { RunWriter } from '../../../../plugins/replay/write/run-writer.ts'
import { callNeedingConsent, type Kit, logOf, recordsOf, startKit, withFolder } from '../../mcp/audit/records-kit.ts'
import { startReplay } from '../kit.ts'

const DAY = 86_400_000
const off: Required<Settings> = {
  days: null,
  max_runs: null,
  max_bytes: null,
  audit_days: null,
  max_audit_records: null,
}
const never = () => false

const auditOf = ({ gateway }: Kit, settings: Settings): AuditRetention =>
  new AuditRetention(gateway, { ...off, ...settings })

const retentionOf = ({ gateway }: Kit, settings: Settings): Retention =>
  new Retention(gateway, new RunWriter(gateway, () => {}, new MemoryBudget()), { ...off, ...settings })

const started = async (test: TestContext): Promise<Kit> => {
  const kit = await startKit()
  test.after(() => kit.close())
  return kit
}

/** Events without a session, one per day. */
const events = async (kit: Kit, count: number): Promise<void> => {
  for (let day = 0; day < count; day++) {
    kit.audit.event({
      kind: 'pin',
      name: 'pin.changed',
      server_id: 'fs',
      tool: `t${day}`,
      tool_fingerprint: 'f',
      reason: '',
    })
    kit.clock.advance(DAY)
  }
  await kit.audit.flush()
}

const toolsOf = async (kit: Kit): Promise<readonly (string | null)[]> => (await recordsOf(kit)).map(({ tool }) => tool)

const approvalsOf = async ({ gateway }: Kit): Promise<readonly string[]> =>
  (await gateway.storage.find('mcp_approvals')).rows.map(({ status }) => status)

describe('retention of the MCP audit', () => {
  it('removes records by age, and reports the next removal', async (test) => {
    const kit = await started(test)
    await events(kit, 10)
    const audit = auditOf(kit, { audit_days: 4 })
    assert.deepEqual(await audit.report(), { would_remove: 6, more: false })
    assert.equal((await toolsOf(kit)).length, 10, 'a look removes nothing')
    assert.equal(await audit.pass(never), 6)
    assert.deepEqual(await toolsOf(kit), ['t6', 't7', 't8', 't9'])
    assert.deepEqual(await audit.report(), { would_remove: 0, more: false })
    assert.equal(await auditOf(kit, {}).pass(never), 0)
  })
  it('removes the oldest records above a number', async (test) => {
    const kit = await started(test)
    await events(kit, 10)
    assert.equal(await auditOf(kit, { max_audit_records: 10 }).pass(never), 0)
    assert.deepEqual(await auditOf(kit, { max_audit_records: 3 }).report(), { would_remove: 7, more: false })
    assert.equal(await auditOf(kit, { max_audit_records: 3 }).pass(never), 7)
    assert.deepEqual(await toolsOf(kit), ['t7', 't8', 't9'])
  })
  it('keeps records and approvals of a pinned or young run, and removes the rest after its run', async (test) => {
    const kit = await started(test)
    const asked = async (id: string) => {
      const { entry } = await callNeedingConsent(kit, { log: logOf(kit, { id }), question: { session_id: id } })
      return entry.trace_id
    }
    const pinned = await asked('mcp_pinned')
    const gone = await asked('mcp_gone')
    assert.notEqual(pinned, gone)
    await kit.audit.flush()
    kit.clock.advance(DAY)
    await kit.approvals.sweep()
    assert.ok(await kit.gateway.storage.patch('runs', pinned, { pinned: true }))
    kit.clock.advance(60 * DAY)
    assert.deepEqual(await approvalsOf(kit), ['expired', 'expired'])
    assert.equal(await auditOf(kit, { audit_days: 30 }).pass(never), 0, 'both runs are there')
    assert.equal(await retentionOf(kit, { days: 30, audit_days: 90 }).pass(), 1)
    assert.equal((await approvalsOf(kit)).length, 2, 'records outlive their run')
    assert.equal(await retentionOf(kit, { days: 30, audit_days: 30 }).pass(), 0)
    const rows = (await recordsOf(kit)).filter(({ trace_id }) => trace_id !== null)
    assert.ok(rows.length > 0)
    assert.deepEqual([...new Set(rows.map(({ trace_id }) => trace_id))], [pinned])
    assert.deepEqual(await approvalsOf(kit), ['expired'])
  })
  it('keeps approvals that can still be used', async (test) => {
    const kit = await started(test)
    await callNeedingConsent(kit)
    kit.clock.advance(1)
    assert.equal(await retentionOf(kit, { max_runs: 0, audit_days: 1 }).pass(), 0)
    assert.deepEqual(await approvalsOf(kit), ['pending'])
  })
  it('processes many records in steps, past protected ones, and stops on request', () =>
    withFolder(async (folder) => {
      const kit = await startKit({ folder })
      const { storage } = kit.gateway
      await events(kit, 1)
      const [row] = await recordsOf(kit)
      assert.ok(row)
      await storage.write(
        Array.from({ length: 1_200 }, (_, index) => ({
          table: 'mcp_audit' as const,
          put: { ...row, id: `aud_${index}`, at: index },
        })),
      )
      const audit = auditOf(kit, { audit_days: 1 })
      assert.deepEqual(await audit.report(), { would_remove: 500, more: true })
      assert.equal(await audit.pass(() => true), 0)
      assert.equal(await audit.pass(never), 1_200)
      assert.equal((await recordsOf(kit)).length, 1)
      await kit.close()
    }))
  it('is reported by the API, also without MCP records', async (test) => {
    const bench = await startReplay()
    test.after(() => bench.close())
    const { body } = await bench.send('GET', '/api/v1/retention')
    const { settings, audit } = body as { readonly settings: Settings; readonly audit: unknown }
    assert.deepEqual([settings.audit_days, settings.max_audit_records], [90, 1_000_000])
    assert.deepEqual(audit, { would_remove: 0, more: false })
  })
})
