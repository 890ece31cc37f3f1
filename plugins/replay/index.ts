import {
  type Fragment,
  type Gateway,
  GuardError,
  type Plugin,
  type Recording,
  type RepliedTool,
  type Settled,
  stages,
  type ToolRecording,
} from 'guard-gateway/core'
import { replayDefaults, sessionDefaults } from '#lib/config-defaults'
import { MemoryBudget } from '#lib/memory-budget'
import { findUnsummed, pages } from '#lib/paging'
import { currentPrincipal, thisMachine } from '#lib/principal'
import { instanceFactKind } from '#lib/session'
import { cutText } from '#lib/text'
import { Upkeep } from '#lib/time-slice'
import {
  argumentHash,
  argumentKey,
  type CallRecord,
  type ToolRecord,
  toolRecords,
  toolTimes,
  traceOf,
} from '#lib/trace'
import { traceFileErrors } from '#lib/trace-file'
import { Automatic } from './automatic/automatic.ts'
import { replayErrors } from './error-codes.ts'
import { evidenceOfEvent, evidenceOfSpan } from './failures/tags.ts'
import { Imports } from './import/imports.ts'
import { endAbandonedRuns } from './maintenance/abandoned-runs.ts'
import { Retention } from './maintenance/retention.ts'
import type { ReplayOptions } from './options.ts'
import { Pricing } from './pricing/pricing.ts'
import { RunCache } from './read/run-cache.ts'
import { decisionOf, eventV1 } from './stream/events.ts'
import { Stream } from './stream/stream.ts'
import { type RunRow, tables } from './tables.ts'
import { NS_PER_MS, nowNs } from './time.ts'
import { OpenRun } from './write/open-run.ts'
import { loadRun } from './write/open-runs.ts'
import { callChange } from './write/run-change.ts'
import { newRow, originOf } from './write/run-row.ts'
import { MAX_SPANS, RunWriter } from './write/run-writer.ts'
import { toolWords } from './write/search-words.ts'
import type { Staging } from './write/staging.ts'

export type { ReplayCommandOptions } from './commands/command-options.ts'
export { replayCommands } from './commands.ts'
export { replayMcp, replayMcpCommand } from './mcp/index.ts'
export type { ReplayOptions } from './options.ts'

const MINUTE_MS = 60_000
/** A process is found dead within this time. */
const FOUND_DEAD_MS = 30_000

/** The trace store: records runs and every model request; lists, reads, exports and compares runs. */
export const replay = (options: ReplayOptions = {}): Plugin => ({
  name: 'replay',
  requires: ['sessions', 'recorder', 'export-format/json'],
  apply(gateway: Gateway) {
    gateway.errorCodes.add(...Object.values(traceFileErrors), ...Object.values(replayErrors))
    const stream = new Stream(gateway)
    const written = (row: RunRow): void => {
      if (row.revision === 1) retention.added()
      stream.runWritten(row)
    }
    const budget = gateway.service('memory_budget').getOrProvide(() => new MemoryBudget())
    const runWriter = new RunWriter(gateway, written, budget, options.max_open_bytes)
    const retention = new Retention(gateway, runWriter, options.retention)
    const idle_ms = (options.idle_timeout_minutes ?? sessionDefaults.idle_timeout_minutes) * MINUTE_MS
    const automatic = new Automatic(gateway, runWriter, idle_ms, () => stream.hasListeners)
    const tools = new ToolCalls(runWriter, () => stream.hasListeners)
    const pricing = new Pricing(gateway, options.pricing)
    const maintenance = new Maintenance(gateway, retention, runWriter.staging)
    const imports = new Imports(gateway, runWriter, options.max_import_bytes ?? replayDefaults.max_import_bytes)
    const cache = new RunCache(() => gateway.storage, budget)
    const parts = { gateway, imports, runWriter, cache, retention, pricing, stream }
    let key = ''

    for (const table of tables) gateway.tables.add(table)
    gateway.service('prices').provide(pricing)
    gateway.health.set('replay', () => ({
      open_runs: runWriter.runs.size,
      open_run_bytes: runWriter.runs.bytes,
      listeners: stream.size,
    }))
    gateway.health.set('pricing', () => pricing.health())
    gateway.registry(instanceFactKind).add({ id: 'price_file', value: () => pricing.health().version })
    gateway.hooks.open.tapPromise('replay', async () => {
      key = await argumentKey(gateway.storage)
      await pricing.start()
      await recoverSums(gateway)
      gateway
        .service('cluster')
        .get()
        ?.onEnded(async () => void (await recoverSums(gateway, FOUND_DEAD_MS)))
      runWriter.deferred.start()
      await maintenance.begin()
    })
    // runs after the policy, which counts the request
    gateway.hooks.decision.tapPromise({ name: 'replay', stage: stages.decision.trace }, (decision, call) => {
      const joining = automatic.join(call)
      stream.callStarted()
      return joining === undefined ? decision : joining.then(() => decision)
    })
    // runs before the recorder, whose row contains both
    gateway.hooks.settle.tap({ name: 'replay', stage: stages.settle.trace }, (settled) => {
      pricing.settle(settled)
      if (settled.call.trace !== undefined && settled.reading.calls.length > 0)
        settled.tool_calls = repliedTools(settled, key, gateway)
    })
    const publish = ({ attempt, record }: Recording): void => {
      const event = stream.hasEventListeners && attempt === 0 ? decisionOf(record) : undefined
      if (event !== undefined) stream.eventStored(event)
    }
    gateway.hooks.record.tapPromise('replay', (recording) => {
      const recorded = automatic.record(recording)
      if (recorded !== undefined) return recorded.then(() => publish(recording))
      if (stream.hasListeners) publish(recording)
    })
    gateway.hooks.tool.tap(
      { name: 'replay', stage: stages.tool.trace },
      (isRead, recording) => isRead || tools.take(recording),
    )
    gateway.hooks.trace.tapPromise('replay', async (fragment) => {
      await checkOwn(runWriter, fragment)
      return pricing.price(fragment)
    })
    gateway.hooks.keep.tapPromise({ name: 'replay', stage: stages.keep.write }, (fragments) =>
      runWriter.keep(fragments),
    )
    gateway.hooks.keep.tap('replay', (fragments) => {
      if (!stream.hasEventListeners) return
      // imported runs are announced without their events, which are not new
      for (const fragment of fragments.filter(({ stage }) => stage === undefined)) {
        const { row, events } = runWriter.outcome(fragment)
        for (const event of events) stream.eventStored(eventV1(event, row))
      }
    })
    gateway.hooks.notice.tap('replay', (notice) => stream.noticed(notice))
    gateway.hooks.close.tap({ name: 'replay', stage: stages.close.streams }, () => stream.end())
    gateway.hooks.close.tapPromise('replay', async () => {
      pricing.end()
      await maintenance.end()
      await runWriter.deferred.end()
      cache.forget()
    })
    gateway.hooks.http.tapPromise('replay', async (app) => {
      const [{ routes }, { importForm }, { addPages }] = await Promise.all([
        import('./routes.ts'),
        import('./import/form-route.ts'),
        import('./page/index.ts'),
      ])
      addPages(parts)
      await app.register(routes(parts, options), { prefix: '/api/v1' })
      await app.register(importForm(gateway, imports))
    })
  },
})

const NAME_CHARS = 256

/** The recorded tool calls of a reply: names and argument hashes, no arguments. */
const repliedTools = ({ reading }: Settled, key: string, { redact }: Gateway): readonly RepliedTool[] =>
  reading.calls.map(({ id, tool, args }) => ({
    id: id === null ? null : cutText(id, NAME_CHARS),
    tool: cutText(redact.text(tool), NAME_CHARS),
    argument_hash: argumentHash(key, args),
  }))

/** Refuses what a key that is bound to projects writes into other projects, or into a run of another. Throws TRACE_CONFLICT. */
const checkOwn = async ({ runs }: RunWriter, { run: { trace_id, project_id } }: Fragment): Promise<void> => {
  const projects = currentPrincipal()?.projects ?? null
  if (projects === null) return
  if (project_id !== undefined && !projects.includes(project_id))
    throw new GuardError(
      replayErrors.TRACE_CONFLICT,
      `The key is bound to ${projects.join(', ')}, and the run names another project. Name one of these.`,
    )
  const known = await runs.get(trace_id)
  if (known !== undefined && !projects.includes(known.row.project_id)) throw new GuardError(replayErrors.TRACE_CONFLICT)
  if (known === undefined && project_id === undefined)
    throw new GuardError(
      replayErrors.TRACE_CONFLICT,
      `The key is bound to ${projects.join(', ')}, and the run names no project. Name one of these.`,
    )
}

const FIRST_MS = 30_000
const EVERY_MS = 300_000

/** Ends abandoned runs, removes abandoned imports and applies retention every five minutes, one pass at a time. A failure is reported as a fault. */
class Maintenance {
  readonly #gateway: Gateway
  readonly #retention: Retention
  readonly #staging: Staging
  readonly #upkeep: Upkeep
  readonly #fault = (error: unknown): void => this.#gateway.fault(error, 'replay:upkeep')

  constructor(gateway: Gateway, retention: Retention, staging: Staging) {
    this.#gateway = gateway
    this.#retention = retention
    this.#staging = staging
    this.#upkeep = new Upkeep(gateway.service('cluster'), this.#fault, () => this.#pass(), EVERY_MS)
  }

  /** Ends runs that an earlier process left running, and starts the timer. */
  async begin(): Promise<void> {
    await endAbandonedRuns(this.#gateway).catch(this.#fault)
    await this.#staging.sweep().catch(this.#fault)
    this.#upkeep.begin(FIRST_MS)
  }

  async end(): Promise<void> {
    await Promise.all([this.#retention.stop(), this.#upkeep.end()])
  }

  async #pass(): Promise<void> {
    await endAbandonedRuns(this.#gateway).catch(this.#fault)
    await this.#staging.sweep().catch(this.#fault)
    await this.#removeOld().catch(this.#fault)
  }

  async #removeOld(): Promise<void> {
    const runs = await this.#retention.pass()
    if (runs === 0) return
    const actor = { ...thisMachine, name: 'gateway' }
    await this.#gateway.service('audit').get()?.note({ action: 'retention.removed', details: { runs }, actor })
  }
}

/** Maximum remembered kinds of calls per run. */
const MAX_KINDS = 200

/** The fast path for tool calls that change only sums of their run. The sums are written later. */
class ToolCalls {
  readonly #runWriter: RunWriter
  readonly #isWatched: () => boolean
  /** Per run, the kinds of calls that change only sums. */
  readonly #kinds = new WeakMap<OpenRun, Set<string>>()

  /** `isWatched`: someone subscribes to all changes of runs. */
  constructor(runWriter: RunWriter, isWatched: () => boolean) {
    this.#runWriter = runWriter
    this.#isWatched = isWatched
  }

  /** True: the record of the call is enough, and its span and event are derived from it. False: the run needs the whole call. */
  take({ record, written }: ToolRecording): boolean {
    const { runs, deferred } = this.#runWriter
    const run = record.trace_id === null ? undefined : runs.peek(record.trace_id)
    if (run === undefined || this.#isWatched() || !this.#fits(run, record)) return false
    run.addTool(record)
    run.deferredRecords.push(record)
    deferred.add(run)
    written.catch(() => {
      const at = run.deferredRecords.indexOf(record)
      if (at !== -1) run.deferredRecords.splice(at, 1)
      deferred.addForReload(run)
    })
    return true
  }

  #fits(run: OpenRun, record: ToolRecord): boolean {
    const { spans, row } = run
    const { start_ns, end_ns } = toolTimes(record)
    return (
      end_ns !== null &&
      spans.get(record.span_id ?? '') === undefined &&
      spans.size < MAX_SPANS &&
      // recovery finds outdated rows by this: the row is older than the call
      row.updated_ns < (end_ns / NS_PER_MS) * NS_PER_MS &&
      row.start_ns <= start_ns &&
      // a caller without a project says `default`, which matches every run
      (row.project_id === record.project_id || record.project_id === 'default') &&
      this.#isKnown(run, record) &&
      run.staysOk()
    )
  }

  /** True if the run already has the search words and failure evidence of such a call. */
  #isKnown(run: OpenRun, record: ToolRecord): boolean {
    const { tool, action, mode, outcome, reason_code, reason, server_id, rule_ids, transport } = record
    const { protocol_version, policy_version } = record
    if (outcome !== 'ok' || reason_code !== null) return false
    const facts = [tool, action, mode, reason, server_id, transport, protocol_version, policy_version]
    const kind = `${facts.join('\0')}\0${rule_ids?.join('\0')}`
    let kinds = this.#kinds.get(run)
    if (kinds?.has(kind) === true) return true
    for (const word of toolWords(record)) if (!run.words.has(word)) return false
    const { span, event } = toolRecords(record)
    if (evidenceOfSpan(span) !== undefined || evidenceOfEvent(event) !== undefined) return false
    if (kinds === undefined || kinds.size >= MAX_KINDS) {
      kinds = new Set()
      this.#kinds.set(run, kinds)
    }
    kinds.add(kind)
    return true
  }
}

/** The run of a call, and when the call ended. */
interface EndedCall {
  readonly trace_id: string | null
  readonly ended_at: number
  /** When it was known to its process at the latest, if it did not end there. */
  readonly seen_at?: number
  /** A call that its process left open may have no run yet: it begins one. */
  readonly begins?: CallRecord | false
}

/** Writes the sums that an earlier process deferred and did not write. Returns the number of runs. `reach_ms`: how long ago it may have been, where others have recorded since. */
const recoverSums = async (gateway: Gateway, reach_ms?: number): Promise<number> => {
  const { storage } = gateway
  const outdated = new Map<string, CallRecord | false>()
  await addOutdated(outdated, gateway, pages(storage, 'calls', {}), callEnd, reach_ms)
  if (storage.has('mcp_audit')) await addOutdated(outdated, gateway, pages(storage, 'mcp_audit', {}), toolEnd, reach_ms)
  let recovered = 0
  for (const [trace_id, begins] of outdated) if (await rewriteRow(gateway, trace_id, begins)) recovered++
  return recovered
}

const callEnd = (call: CallRecord): EndedCall => ({
  trace_id: call.trace_id,
  ended_at: call.ended_at,
  ...(call.outcome === 'interrupted' && call.forwarded_at === null && { seen_at: call.received_at, begins: call }),
})

const toolEnd = (row: ToolRecord): EndedCall => ({
  trace_id: row.traced === true ? row.trace_id : null,
  ended_at: Math.floor(row.at + (row.duration_us ?? 0) / 1000),
})

/** Adds the runs whose last write is older than the end of one of their calls. */
const addOutdated = <R>(
  outdated: Map<string, CallRecord | false>,
  { storage }: Gateway,
  records: AsyncIterable<readonly R[]>,
  endOf: (record: R) => EndedCall,
  reach_ms: number | undefined,
): Promise<void> =>
  findUnsummed(
    records,
    (record) => endOf(record).seen_at ?? endOf(record).ended_at,
    async (page) => {
      const ids = new Set(page.flatMap((record) => endOf(record).trace_id ?? []))
      const runs = await Promise.all([...ids].map((trace_id) => storage.get('runs', trace_id)))
      const updated = new Map(
        runs.flatMap((run) => (run === undefined ? [] : [[run.trace_id, run.updated_ns] as const])),
      )
      return page.filter((record) => {
        const { trace_id, ended_at, begins = false } = endOf(record)
        if (trace_id === null) return false
        const unknown = begins === false ? Infinity : 0n
        const isOutdated = (updated.get(trace_id) ?? unknown) < BigInt(ended_at) * NS_PER_MS
        if (isOutdated) outdated.set(trace_id, begins || (outdated.get(trace_id) ?? false))
        return isOutdated
      })
    },
    reach_ms,
  )

/** False: another process wrote the run first. */
const rewriteRow = async (gateway: Gateway, trace_id: string, begins: CallRecord | false): Promise<boolean> => {
  const run = (await loadRun(gateway.storage, trace_id)) ?? (begins ? begunRun(gateway, trace_id, begins) : undefined)
  if (run === undefined) return false
  const now_ns = nowNs(gateway.clock)
  const { end_ns } = run.spans.sums
  // the clock may have been set back since its records were written
  return gateway.storage.write([callChange(run, !run.stored, end_ns !== null && end_ns > now_ns ? end_ns : now_ns)])
}

/** The run that a call would have begun. */
const begunRun = ({ redact }: Gateway, trace_id: string, call: CallRecord): OpenRun => {
  const { project_id, session_id, agent_id, received_at } = call
  const row = newRow({ trace_id, project_id, session_id, agent_id }, originOf(call), BigInt(received_at) * NS_PER_MS)
  const run = new OpenRun(row, false)
  const trace = traceOf(call)
  if (trace !== undefined) run.addCall(call, trace, redact.text)
  return run
}
