import { type Gateway, GuardError } from 'guard-gateway/core'
import { exportFormatKind, importFormatKind, type RebuiltRequest } from 'guard-gateway/lib/export-format'
import { type ImportFile, traceFileErrors } from 'guard-gateway/lib/trace-file'
import type { Simulation, SimulationRange } from '../simulation.ts'
import { Totals } from '../totals.ts'
import { type JudgeContext, SessionJudge } from './judge.ts'
import { tracedRequests } from './traced-requests.ts'

/** Rules to be tried on files. */
export interface ImportedRequest extends Pick<SimulationRange, 'since' | 'until' | 'limit'> {
  readonly context: JudgeContext
  readonly mode: Simulation['mode']
}

const SESSIONS = 1_000

/** What rules would have done to the sessions of files. Files are added one by one. */
export class ImportedSimulation {
  readonly #gateway: Gateway
  readonly #request: ImportedRequest
  readonly #totals: Totals
  #left = 0
  #truncated = false

  constructor(gateway: Gateway, request: ImportedRequest) {
    this.#gateway = gateway
    this.#request = request
    this.#totals = new Totals(request.context.policy, request.mode)
    this.#left = request.limit ?? SESSIONS
  }

  /** Judges the sessions of a file. Throws INVALID_IMPORT with the known formats, and errors of the format. */
  async add(file: ImportFile): Promise<void> {
    const { requests, hasConversations } = this.#requestsIn(file)
    const { context, since = 0, until = Number.POSITIVE_INFINITY } = this.#request
    const sessions = new Map<string, SessionJudge>()
    for (const request of requests) {
      if (request.at > until) continue
      const session = sessions.get(request.session_id) ?? new SessionJudge(context, hasConversations)
      sessions.set(request.session_id, session)
      await session.add(request)
    }
    for (const [id, { judged }] of sessions) {
      if (!judged.some(({ record }) => record.received_at >= since)) continue
      if (this.#left-- > 0) this.#totals.add(id, judged, since)
      else this.#truncated = true
    }
  }

  result(): Simulation {
    const { sessions, requests, flagged } = this.#totals
    return {
      project_id: this.#request.context.project_id,
      mode: this.#request.mode,
      sessions,
      requests,
      truncated: this.#truncated,
      flagged,
      rules: this.#totals.rules(),
      not_simulated: this.#totals.notSimulated(),
    }
  }

  #requestsIn(file: ImportFile): { readonly requests: Iterable<RebuiltRequest>; readonly hasConversations: boolean } {
    const imports = [...this.#gateway.registry(importFormatKind)]
    const exports = [...this.#gateway.registry(exportFormatKind)]
    const context = { argumentHash: () => '' }
    for (const format of imports) {
      if (!format.accepts(file)) continue
      if (format.requests !== undefined) return { requests: format.requests(file), hasConversations: true }
      return { requests: tracedRequests(format.read(file, context)), hasConversations: false }
    }
    for (const { accepts, read } of exports)
      if (read !== undefined && accepts?.(file) === true)
        return { requests: tracedRequests(read(file)), hasConversations: false }
    const known = [...imports.map(({ title }) => title), ...exports.map(({ id }) => id)]
    throw new GuardError(
      traceFileErrors.INVALID_IMPORT,
      `The file is of no known format; there is ${known.join(', ')}.`,
      { known, line: 1 },
    )
  }
}
