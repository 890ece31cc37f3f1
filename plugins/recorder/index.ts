import { randomInt } from 'node:crypto'
import { type Gateway, type Plugin, stages, type Table, table } from 'guard-gateway/core'
import { timeErrors } from '#lib/time'
import { Upkeep } from '#lib/time-slice'
import { callColumns, type FiguresQuery, openCallTable } from '#lib/trace'
import { EndedSums } from './figures/ended-sums.ts'
import { HourSums } from './figures/hour-sums.ts'
import { hourOf } from './figures/hours.ts'
import { readFigures } from './figures/read.ts'
import { hourTables } from './figures/tables.ts'
import { noteDecided } from './flags/flag-sums.ts'
import { readFlagReport } from './flags/read-report.ts'
import { flagTable } from './flags/tables.ts'
import { endOpenCalls, OpenCalls } from './open-calls.ts'
import { callRecorder, type RecorderOptions } from './record-calls.ts'
import { recoverTotals } from './recovery.ts'
import { WriteBehindTotals } from './write-behind-totals.ts'

export { type ReportCommandOptions, reportCommands } from './commands.ts'
export { spentText } from './flags/words.ts'
export type { RecorderOptions } from './record-calls.ts'

/** Bytes of a reply for a preview: of a stream, and of any other reply. */
const PREVIEW_BYTES = { stream: 1_000, whole: 262_144 }

/** Records every guarded request before its reply ends. Serves history and exports. */
export const recorder = (options: RecorderOptions = {}): Plugin => ({
  name: 'recorder',
  requires: ['sessions'],
  apply(gateway: Gateway) {
    for (const table of [...tables, openCallTable]) gateway.tables.add(table)
    if (options.full_content_logging === true) gateway.service('previews').provide(PREVIEW_BYTES)
    const totals = new WriteBehindTotals(gateway)
    const sums = new HourSums()
    const open = new OpenCalls(gateway)
    const { record, end } = callRecorder(gateway, totals, sums, open, options)
    const upkeep = new Upkeep(
      gateway.service('cluster'),
      (error) => gateway.fault(error, 'recorder:sums'),
      (isEnding) => removeOldSums(gateway, isEnding),
    )
    const ended = new EndedSums(() => gateway.clock.now())
    const figures = { read: (query: FiguresQuery) => readFigures(ended.over(gateway.storage), query) }
    gateway.service('figures').provide(figures)
    gateway.service('flags').provide({ report: (query) => readFlagReport(gateway.storage, query) })
    gateway.errorCodes.add(...Object.values(timeErrors))
    gateway.hooks.open.tapPromise('recorder', async ({ beside }) => {
      const cluster = gateway.service('cluster').get()
      // shared totals are complete with each request
      if (cluster === undefined) {
        if (!beside) await endOpenCalls(gateway, new HourSums())
        await recoverTotals(gateway)
      } else sums.divide(randomInt(2 ** 32))
      cluster?.onEnded((instance) => endOpenCalls(gateway, new HourSums(), instance))
      if (!beside) upkeep.begin()
      totals.start()
    })
    gateway.hooks.decision.tapPromise({ name: 'recorder', stage: stages.decision.flags }, (decision, call) => {
      noteDecided(decision, call)
      const begun = open.begin(call, decision)
      return begun === undefined ? decision : begun.then(() => decision)
    })
    gateway.hooks.settle.tapPromise('recorder', record)
    // runs before Replay closes, because Replay gets these writes
    gateway.hooks.close.tapPromise({ name: 'recorder', stage: stages.close.recorder }, async () => {
      await upkeep.end()
      await end()
      await totals.end()
    })
    gateway.hooks.http.tapPromise('recorder', async (app) => {
      const [{ routes }, { figureRoutes }, { reportRoutes }, { addPanels }] = await Promise.all([
        import('./routes.ts'),
        import('./figures/routes.ts'),
        import('./flags/routes.ts'),
        import('./page/index.ts'),
      ])
      await app.register(routes(gateway), { prefix: '/api' })
      await app.register(figureRoutes(gateway, figures), { prefix: '/api/v1' })
      await app.register(reportRoutes(gateway), { prefix: '/api/v1' })
      addPanels(gateway, figures)
    })
  },
})

/** Thirteen months, so that a month can be compared with the same one a year before. */
const RETENTION_MS = 400 * 86_400_000
/** Rows that one statement removes. Others have their turn after it. */
const STEP_ROWS = 500
const TABLES = ['calls_by_hour', 'flags_by_hour'] as const

/** Removes sums of hours that are older than 400 days and older than every call on record; ends early where the gateway does. Resolves to the number of rows. */
export const removeOldSums = async (
  { storage, clock }: Gateway,
  isEnding: () => boolean = () => false,
): Promise<number> => {
  const oldest = await storage.find('calls', { order: ['recorded', 'asc'], limit: 1 })
  const cutoff = Math.min(clock.now() - RETENTION_MS, oldest.rows[0]?.received_at ?? Number.POSITIVE_INFINITY)
  let removed = 0
  for (const table of TABLES) {
    let step = STEP_ROWS
    while (step === STEP_ROWS && !isEnding()) {
      step = await storage.remove(table, { hour: { lt: hourOf(cutoff) } }, STEP_ROWS)
      removed += step
    }
  }
  return removed
}

/** One row per guarded request, with its decision. */
const calls = table({
  id: 'calls',
  ...callColumns,
  indexes: [['session_id', 'recorded'], ['received_at'], ['trace_id', 'recorded']],
  sparse: [['response_id']],
})

/** Events of a session other than requests: pauses, resumes, changes. Other features add rows. */
const sessionEvents = table({
  id: 'session_events',
  columns: {
    id: 'text',
    session_id: 'text',
    project_id: 'text',
    agent_id: 'text',
    name: 'text',
    at: 'integer',
    severity: 'text',
    request_id: 'text',
    attributes: 'json',
  },
  indexes: [['session_id', 'recorded']],
  exact: ['id', 'session_id', 'project_id', 'agent_id', 'name', 'severity', 'request_id'],
})

export const tables: readonly Table[] = [calls, sessionEvents, ...hourTables, flagTable]
