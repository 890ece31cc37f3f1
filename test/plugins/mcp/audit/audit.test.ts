import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { GuardError } from 'guard-gateway/core'
import type { Judgement } from '../../../../plugins/mcp/audit/index.ts'
import { readTrace } from '../../../../plugins/replay/read/run.ts'
import {
  callNeedingConsent,
  decisionIn,
  factsOf,
  judgedCall,
  judgementOf,
  type Kit,
  logOf,
  recordsOf,
  SESSION,
  spansOf,
  startKit,
  type What,
  withFolder,
} from './records-kit.ts'

let kit: Kit
const start = async (): Promise<void> => {
  kit = await startKit()
}
const stop = (): Promise<void> => kit.close()

const judge = (...what: What) => judgedCall(kit, ...what)

describe('a judged call', () => {
  beforeEach(start)
  afterEach(stop)

  it('is on record before it is forwarded, and its end follows', async () => {
    const { log, entry } = await judge({}, { request_id: '12345678901234567890' })
    const [row] = (await kit.gateway.storage.find('mcp_audit', {})).rows
    assert.equal(row?.id, entry.id)
    assert.deepEqual(
      [row?.kind, row?.action, row?.forwarded, row?.outcome, row?.request_id, row?.session_id, row?.seq],
      ['decision', 'allow', true, null, '12345678901234567890', SESSION, 1],
    )
    assert.equal((await spansOf(kit, entry.trace_id, 'tool.call'))[0]?.status, 'running')
    kit.clock.advance(250)
    const ended = log.outcome(entry, 'ok', 1234)
    await kit.audit.flush()
    await ended
    const after = await kit.gateway.storage.get('mcp_audit', entry.id)
    assert.deepEqual([after?.outcome, after?.duration_ms, after?.result_bytes], ['ok', 250, 1234])
    const [span] = await spansOf(kit, entry.trace_id, 'tool.call')
    assert.deepEqual([span?.status, (span?.end_ns ?? 0n) - (span?.start_ns ?? 0n)], ['ok', 250_000_000n])
    assert.deepEqual(kit.faults, [])
  })
  it('is a span with its decision, both in the words of Replay', async () => {
    const { entry } = await judge({
      action: 'deny',
      forwarded: false,
      reason: '/path resolves outside the allowed folders',
      rule_ids: ['read-in-project'],
    })
    const [span] = await spansOf(kit, entry.trace_id, 'tool.call')
    assert.deepEqual([span?.kind, span?.owner, span?.label, span?.status], ['tool', 'mcp', 'write_file', 'error'])
    const attributes = span?.attributes ?? {}
    for (const [name, value] of [
      ['gen_ai.operation.name', 'execute_tool'],
      ['mcp.method.name', 'tools/call'],
      ['mcp.protocol.version', '2025-11-25'],
      ['jsonrpc.request.id', '7'],
      ['network.transport', 'tcp'],
      ['guard.mcp.server_id', 'fs'],
      ['guard.argument_hash', factsOf(kit, { path: 'a' }).argument_hash],
      ['mcp.session.id', SESSION.slice(0, 16)],
    ] as const)
      assert.equal(attributes[name], value, name)
    const said = decisionIn(span)?.attributes
    assert.deepEqual(
      [said?.decision, said?.forwarded, said?.reason_code, said?.rule_id, said?.mode, said?.policy_version],
      ['deny', false, 'MCP_DENIED', 'read-in-project', 'enforce', 'v1'],
    )
    const { run } = await readTrace(kit.gateway.storage, entry.trace_id)
    assert.deepEqual([run.origin, run.status, run.failure_tag], ['mcp', 'error', 'policy_block'])
  })
  const codes: readonly (readonly [Partial<Judgement>, string | undefined, string | undefined, string])[] = [
    [{ action: 'allow' }, 'allow', undefined, 'running'],
    [{ action: 'transform', sent_argument_hash: 'aa' }, 'transform', undefined, 'running'],
    [{ action: 'shadow_deny' }, 'shadow_deny', 'MCP_DENIED', 'running'],
    [{ action: 'rate_limit', forwarded: false }, 'rate_limit', 'MCP_RATE_LIMIT', 'error'],
    [{ action: 'confirm', forwarded: false }, 'confirm', 'MCP_CONFIRM', 'ok'],
    [{ action: 'confirm', forwarded: false, denied_by_user: true }, 'confirm', 'MCP_DENIED', 'error'],
    [{ action: 'confirm', forwarded: false, rule_ids: ['pin'] }, 'confirm', 'MCP_PIN_CHANGED', 'ok'],
    [{ action: 'invalid', forwarded: false }, 'deny', 'MCP_INVALID_ARGUMENTS', 'error'],
    [{ action: 'deny', mode: 'shadow', forwarded: true }, 'deny', 'MCP_DENIED', 'running'],
  ]
  for (const [judgement, decision, code, status] of codes)
    it(`${JSON.stringify(judgement)} is told as ${decision}, ${code ?? 'no reason'}, ${status}`, async () => {
      const { entry } = await judge(judgement)
      const [span] = await spansOf(kit, entry.trace_id, 'tool.call')
      const said = decisionIn(span)?.attributes
      assert.deepEqual([said?.decision, said?.reason_code, span?.status], [decision, code, status])
      const [row] = await recordsOf(kit)
      assert.deepEqual(
        [row?.outcome, row?.transformed],
        [judgement.forwarded === false ? 'none' : null, judgement.sent_argument_hash !== undefined],
      )
    })
  it('ends in the status of its outcome', async () => {
    const log = logOf(kit)
    for (const [outcome, status] of [
      ['tool_error', 'error'],
      ['rpc_error', 'error'],
      ['lost', 'error'],
      ['cancelled', 'cancelled'],
      ['timeout', 'timeout'],
    ] as const) {
      const { entry } = await judge({}, {}, log)
      const ended = log.outcome(entry, outcome)
      await kit.audit.flush()
      await ended
      const spans = await spansOf(kit, entry.trace_id, 'tool.call')
      assert.equal(spans.find(({ id }) => id === entry.span_id)?.status, status)
    }
  })
  it('of parallel calls all are on record, each once and in its order', async () => {
    const log = logOf(kit)
    const calls = await Promise.all(Array.from({ length: 40 }, () => judge({}, {}, log)))
    for (const { entry } of calls) void log.outcome(entry, 'ok', 1)
    const rows = await recordsOf(kit)
    assert.equal(rows.length, 40)
    assert.deepEqual(
      rows.map(({ seq }) => seq).sort((a, b) => a - b),
      Array.from({ length: 40 }, (_none, at) => at + 1),
    )
    assert.equal(new Set(rows.map(({ trace_id }) => trace_id)).size, 1)
    assert.ok(rows.every(({ outcome }) => outcome === 'ok'))
    const { run } = await readTrace(kit.gateway.storage, calls[0]?.entry.trace_id ?? '')
    assert.deepEqual([run.span_count, run.event_count, run.status], [41, 40, 'ok'])
    assert.deepEqual(kit.faults, [])
  })
  it('is refused by a rejection where storage cannot be written', async () => {
    const log = logOf(kit)
    const entry = await log.begin()
    kit.gateway.hooks.keep.tap({ name: 'full', stage: -200 }, () => {
      throw new GuardError('STORAGE_FULL')
    })
    await assert.rejects(log.judged(entry, factsOf(kit), judgementOf()), { code: 'STORAGE_FULL' })
    await log.outcome(entry, 'ok')
    assert.deepEqual(await recordsOf(kit), [])
    assert.deepEqual(kit.faults, [])
  })
})

describe('events beside the calls', () => {
  beforeEach(start)
  afterEach(stop)

  it('stand in the same record, in and outside of sessions', async () => {
    const log = logOf(kit)
    log.event({ kind: 'refusal', name: 'frame.refused', reason: 'A batch is not taken.', request_id: '3' })
    log.event({ kind: 'session', name: 'session.ended' })
    kit.audit.event({ kind: 'policy', name: 'policy.rejected', reason: 'line 3: unknown key', server_id: 'fs' })
    const rows = await recordsOf(kit)
    assert.deepEqual(
      rows.map(({ kind, name, seq, session_id, server_id }) => [kind, name, seq, session_id, server_id]),
      [
        ['refusal', 'frame.refused', 1, SESSION, 'fs'],
        ['session', 'session.ended', 2, SESSION, 'fs'],
        ['policy', 'policy.rejected', 0, null, 'fs'],
      ],
    )
    assert.deepEqual([rows[0]?.action, rows[0]?.forwarded, rows[0]?.request_id], ['refused', false, '3'])
  })
  it('remember the text of a policy once a version', async () => {
    kit.audit.policyLoaded('v1', 'version: 1')
    kit.audit.policyLoaded('v1', 'version: 1 # later')
    kit.audit.policyLoaded('v2', 'version: 2')
    await kit.audit.flush()
    const { rows } = await kit.gateway.storage.find('mcp_policies', { order: ['recorded', 'asc'] })
    assert.deepEqual(
      rows.map(({ version, text }) => [version, text]),
      [
        ['v1', 'version: 1'],
        ['v2', 'version: 2'],
      ],
    )
  })
})

describe('arguments', () => {
  it('are in no byte of the database, whatever becomes of the call', () =>
    withFolder(async (folder) => {
      const canary = 'canary-7f3a-of-an-ordinary-argument'
      const secret = `ghp_${'kT4z'.repeat(9)}`
      kit = await startKit({ folder })
      const args = { path: canary, [canary]: [canary] }
      for (const judgement of [
        {},
        { action: 'deny', forwarded: false, reason: '/path resolves outside' },
        { action: 'invalid', forwarded: false, reason: '/path must be string' },
      ] as const) {
        const log = logOf(kit)
        const entry = await log.begin()
        await log.judged(entry, factsOf(kit, args), judgementOf(judgement))
        if (!('forwarded' in judgement)) void log.outcome(entry, 'ok', 10)
      }
      await callNeedingConsent(kit, { args: { token: secret } })
      await kit.close()
      for (const name of await readdir(folder)) {
        const bytes = readFileSync(join(folder, name)).toString('latin1')
        assert.equal(bytes.includes(canary), false, name)
        assert.equal(bytes.includes(secret), false, name)
      }
    }))
})
