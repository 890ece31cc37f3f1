import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Gateway, type Plugin } from 'guard-gateway/core'
import { json } from 'guard-gateway/plugins/export-formats/json'
import { http } from 'guard-gateway/plugins/http'
import { recorder } from 'guard-gateway/plugins/recorder'
import { replay } from 'guard-gateway/plugins/replay'
import { sessions } from 'guard-gateway/plugins/sessions'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { sqlite } from 'guard-gateway/plugins/storage/sqlite'
import { foundation } from 'guard-gateway/presets/foundation'
import type { Arguments } from '#lib/mcp-check'
import { argumentHash, argumentKey, type TreeSpan } from '#lib/trace'
import { Approvals, approvalTables, type Consent, type Question } from '../../../../plugins/mcp/approvals/index.ts'
import {
  Audit,
  auditTables,
  type CallFacts,
  type Judgement,
  type SessionLog,
} from '../../../../plugins/mcp/audit/index.ts'
import { readTrace } from '../../../../plugins/replay/read/run.ts'
import { type FakeClock, fakeClock } from '../../../kit/clock.ts'

export const TIMEOUT_MS = 300_000

export interface KitOptions {
  /** The folder of a SQLite database; memory if absent. */
  readonly folder?: string
  readonly full_content_logging?: boolean
  /** Further plugins. */
  readonly plugins?: readonly Plugin[]
}

/** A gateway with audit and approvals, and nothing in front of them. */
export interface Kit {
  readonly gateway: Gateway
  readonly clock: FakeClock
  readonly audit: Audit
  readonly approvals: Approvals
  readonly faults: unknown[]
  readonly key: string
  close(): Promise<void>
}

export const startKit = async (options: KitOptions = {}): Promise<Kit> => {
  const kit = makeKit(options)
  await kit.gateway.open()
  kit.audit.begin()
  return { ...kit, key: await argumentKey(kit.gateway.storage) }
}

/** The same before it is opened; the key for hashes is not there yet. */
export const makeKit = ({ folder, full_content_logging = false, plugins = [] }: KitOptions = {}): Kit => {
  const clock = fakeClock()
  const gateway = new Gateway({ clock }).use(
    ...foundation(),
    folder === undefined ? memory() : sqlite({ file: join(folder, 'guard.db'), exclusive: false }),
    json,
    http({ gateway_key: 'guard_mcp_test_key_0123456' }),
    sessions(),
    recorder(),
    replay(),
    ...plugins,
  )
  for (const table of [...auditTables, ...approvalTables]) gateway.tables.add(table)
  const faults: unknown[] = []
  gateway.hooks.fault.tap('test', (error) => void faults.push(error))
  const audit = new Audit(gateway)
  const approvals = new Approvals(gateway, audit, { timeout_ms: TIMEOUT_MS, full_content_logging })
  return {
    gateway,
    clock,
    audit,
    approvals,
    faults,
    key: '',
    close: async () => {
      await audit.end()
      await gateway.close()
    },
  }
}

/** Runs `work` with a folder that is removed afterwards. */
export const withFolder = async (work: (folder: string) => Promise<void>): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'guard-mcp-'))
  try {
    await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

export const SESSION = 'mcp_session_of_the_tests_0000000000000000000000'

export const logOf = (kit: Kit, more: { readonly id?: string; readonly project_id?: string } = {}): SessionLog => {
  const log = kit.audit.session({
    id: SESSION,
    server_id: 'fs',
    transport: 'http',
    project_id: 'default',
    agent_id: null,
    external_session_id: null,
    ...more,
  })
  log.negotiated('2025-11-25')
  return log
}

/** A call of these arguments. */
export const factsOf = (kit: Kit, args: Arguments = {}, more: Partial<CallFacts> = {}): CallFacts => ({
  tool: 'write_file',
  request_id: '7',
  tool_call_id: null,
  argument_hash: argumentHash(kit.key, JSON.stringify(args)),
  argument_bytes: Buffer.byteLength(JSON.stringify(args)),
  schema: 'ok',
  pin: 'known',
  tool_fingerprint: 'f1',
  ...more,
})

export const judgementOf = (more: Partial<Judgement> = {}): Judgement => ({
  action: 'allow',
  mode: 'enforce',
  forwarded: true,
  reason: null,
  rule_ids: ['r1'],
  findings: [],
  policy_version: 'v1',
  ...more,
})

export interface Asking {
  readonly args?: Arguments
  readonly question?: Partial<Question>
  readonly log?: SessionLog
  /** Other approvals over the same storage, as another process has. */
  readonly approvals?: Approvals
  /** Waited for before a decision is put on record. */
  readonly before?: () => Promise<void>
}

/** One `tools/call` under a rule that wants consent, as the proxy handles it. */
export const callNeedingConsent = async (
  kit: Kit,
  { args = { path: 'a' }, question = {}, log, approvals = kit.approvals, before }: Asking = {},
) => {
  const records = log ?? logOf(kit)
  const entry = await records.begin()
  const facts = factsOf(kit, args, {
    ...(question.tool === undefined ? {} : { tool: question.tool }),
    ...(question.tool_fingerprint === undefined ? {} : { tool_fingerprint: question.tool_fingerprint }),
  })
  const judged = async ({ state, part }: Consent) => {
    await before?.()
    return records.judged(
      entry,
      facts,
      judgementOf({ action: 'confirm', forwarded: state === 'granted', denied_by_user: state === 'denied' }),
      part,
    )
  }
  const decided = await approvals.decide(
    {
      server_id: 'fs',
      session_id: SESSION,
      project_id: 'default',
      client: { name: 'client', version: '1' },
      tool: facts.tool,
      argument_hash: facts.argument_hash,
      tool_fingerprint: facts.tool_fingerprint,
      rule_ids: ['r1'],
      findings: [],
      message: null,
      policy_version: 'v1',
      arguments: args,
      entry,
      ...question,
    },
    judged,
  )
  return { ...decided, entry, records }
}

/** What is other than usual about a call, and where it belongs. */
export type What = [judgement?: Partial<Judgement>, facts?: Partial<CallFacts>, log?: SessionLog, traceparent?: string]

/** A call that is judged and on record. */
export const judgedCall = async (kit: Kit, ...[judgement, facts, log = logOf(kit), traceparent]: What) => {
  const entry = await log.begin(traceparent)
  assert.equal(await log.judged(entry, factsOf(kit, { path: 'a' }, facts), judgementOf(judgement)), true)
  return { log, entry }
}

/** The event of a span that tells what was decided about its call. */
export const decisionIn = (span: TreeSpan | undefined) => span?.events.find(({ name }) => name === 'policy.decision')

/** The spans of a run by name, in order. */
export const spansOf = async ({ gateway }: Kit, trace_id: string, name: string): Promise<readonly TreeSpan[]> =>
  (await readTrace(gateway.storage, trace_id)).spans.filter((span) => span.name === name)

/** All records of the audit, oldest first. */
export const recordsOf = async ({ gateway, audit }: Kit) => {
  await audit.flush()
  return (await gateway.storage.find('mcp_audit', { order: ['recorded', 'asc'], limit: 1000 })).rows
}
