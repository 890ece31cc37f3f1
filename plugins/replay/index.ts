import { type Gateway, type Plugin, type Recording, stages } from 'guard-gateway/core'
import { replayDefaults, sessionDefaults } from 'guard-gateway/lib/config-defaults'
import { MemoryBudget } from 'guard-gateway/lib/memory-budget'
import { instanceFactKind } from 'guard-gateway/lib/session'
import { argumentKey } from 'guard-gateway/lib/trace'
import { traceFileErrors } from 'guard-gateway/lib/trace-file'
import { Automatic } from './automatic/automatic.ts'
import { repliedTools } from './automatic/replied-tools.ts'
import { ToolCalls } from './automatic/tool-calls.ts'
import { replayErrors } from './error-codes.ts'
import { Imports } from './import/imports.ts'
import { Maintenance } from './maintenance/maintenance.ts'
import { Retention } from './maintenance/retention.ts'
import type { ReplayOptions } from './options.ts'
import { Pricing } from './pricing/pricing.ts'
import { RunCache } from './read/run-cache.ts'
import { decisionOf, eventV1 } from './stream/events.ts'
import { Stream } from './stream/stream.ts'
import { type RunRow, tables } from './tables.ts'
import { checkOwn } from './write/own-runs.ts'
import { recoverSums } from './write/recovery.ts'
import { RunWriter } from './write/run-writer.ts'

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
    const told = ({ attempt, record }: Recording): void => {
      const event = stream.hasEventListeners && attempt === 0 ? decisionOf(record) : undefined
      if (event !== undefined) stream.eventStored(event)
    }
    gateway.hooks.record.tapPromise('replay', (recording) => {
      const recorded = automatic.record(recording)
      if (recorded !== undefined) return recorded.then(() => told(recording))
      if (stream.hasListeners) told(recording)
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
