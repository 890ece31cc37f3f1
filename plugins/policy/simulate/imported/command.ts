import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import {
  type Attributes,
  type Gateway,
  GuardError,
  noUsage,
  type SpanDraft,
  totalled,
  type Usage,
} from 'guard-gateway/core'
import type { Input, Io } from '#lib/command'
import { exportFormatKind, type ImportReading, importFormatKind, type RebuiltRequest } from '#lib/export-format'
import { terminalLine } from '#lib/text'
import { type ImportFile, type ImportUnit, importFile, importUnits, traceFileErrors } from '#lib/trace-file'
import type { PolicyCommandOptions } from '../../commands/command-context.ts'
import { requestedPolicy } from '../../commands/requested-policy.ts'
import { readRuleList } from '../../document/document.ts'
import { policyOf } from '../../policy.ts'
import { printSimulation } from '../print.ts'
import { readSimulation } from '../request.ts'
import type { Simulation, SimulationRange } from '../simulation.ts'
import { Totals } from '../totals.ts'
import { type JudgeContext, SessionJudge } from './judge.ts'

/** Prints what the rules of a preset or a file would have done to the sessions of files. Throws INVALID_POLICY, USAGE, and faults of a single file. */
export const simulateFiles = async (input: Input, io: Io, options: PolicyCommandOptions): Promise<number> => {
  const paths = [input.options.import].flat().map(String)
  const { units, searched } = await importUnits(paths, io)
  const { body } = await requestedPolicy(input.args[0] ?? '', await options.presets(), io.cwd)
  const failed: string[] = []
  const result = await options.opened(async (gateway) => {
    const simulation = await simulationFor(gateway, body, input, options)
    for (const unit of units) {
      const fault = await faultOf(simulation, unit, units.length > 1)
      // in a folder files of other kinds lie beside sessions
      if (fault !== undefined && !(searched && fault.place.known !== undefined))
        failed.push(`${unit.name}: ${fault.message}`)
    }
    return simulation.result()
  })
  printSimulation(result, input, io)
  for (const message of failed) io.err.write(`${terminalLine(message)}\n`)
  return failed.length > 0 ? 1 : 0
}

/** Why a file could not be tried; thrown where it is the only one. */
const faultOf = async (
  simulation: ImportedSimulation,
  unit: ImportUnit,
  isOneOfMany: boolean,
): Promise<GuardError | undefined> => {
  try {
    await simulation.add(await fileOf(unit))
  } catch (error) {
    if (isOneOfMany && error instanceof GuardError) return error
    throw error
  }
}

const simulationFor = async (
  gateway: Gateway,
  body: Readonly<Record<string, unknown>>,
  { options: { project = 'default', mode, since, until, limit } }: Input,
  { presets }: PolicyCommandOptions,
): Promise<ImportedSimulation> => {
  const lists = Object.entries(await presets()).map(
    async ([name, rules]) => [name, await readRuleList(rules, gateway.detectors)] as const,
  )
  const about = { project_id: String(project), version: 0, mode: null }
  const range = { mode, since, until, limit: limit === undefined ? undefined : Number(limit) }
  const filters = Object.fromEntries(Object.entries(range).filter(([, value]) => value !== undefined))
  const request = await readSimulation(
    { ...body, ...filters },
    about.project_id,
    { mode: null, rules: [] },
    gateway,
    Object.fromEntries(await Promise.all(lists)),
    'shadow',
  )
  const { rules, mode: tried, ...rest } = request
  return new ImportedSimulation(gateway, {
    ...rest,
    mode: tried,
    context: {
      policy: policyOf({ ...about, mode: tried, rules }, gateway.detectors),
      project_id: about.project_id,
      styles: gateway.apiStyles,
      price: (one) => priceOf(gateway, one),
      fault: gateway.fault,
    },
  })
}

const MAX_BYTES = 256 * 1024 * 1024

/** A file in memory, unpacked. Throws BODY_TOO_LARGE and INVALID_BODY. */
const fileOf = async (unit: ImportUnit): Promise<ImportFile> => {
  const tooLarge = new GuardError('BODY_TOO_LARGE', `${unit.name} has more than ${MAX_BYTES} bytes.`)
  if ((unit.bytes ?? 0) > MAX_BYTES) throw tooLarge
  const bytes = await buffer(unit.open())
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return importFile(bytes)
  try {
    return importFile(gunzipSync(bytes, { maxOutputLength: MAX_BYTES }))
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge
    throw new GuardError('INVALID_BODY', `${unit.name} cannot be read as gzip.`, { cause })
  }
}

const MICRO = 1_000_000

/** The cost that the agent recorded, else that of the price file, as a span of such a request gets it. */
const priceOf = async ({ hooks }: Gateway, request: RebuiltRequest): Promise<number | undefined> => {
  const { cost, usage, model } = request
  if (cost !== undefined) return Math.round(cost * MICRO)
  if (usage === undefined) return undefined
  const attributes = {
    'gen_ai.request.model': model,
    'gen_ai.usage.input_tokens': usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens,
    'gen_ai.usage.output_tokens': usage.output_tokens,
    'gen_ai.usage.cache_read.input_tokens': usage.cache_read_tokens,
    'gen_ai.usage.cache_creation.input_tokens': usage.cache_write_tokens,
    'guard.usage.cache_creation_1h.input_tokens': usage.cache_write_1h_tokens,
  }
  const { spans } = await hooks.trace.promise({
    owner: 'client',
    origin: 'import',
    whole: true,
    run: { trace_id: 'simulated' },
    spans: [{ id: 'request', name: 'gen_ai.request', kind: 'model', attributes }],
    events: [],
    artifacts: [],
  })
  const { 'guard.cost_source': source, 'guard.cost_micro': micro } = spans[0]?.attributes ?? {}
  return source === 'priced' ? Number(micro) : undefined
}

/** Rules to be tried on files. */
interface ImportedRequest extends Pick<SimulationRange, 'since' | 'until' | 'limit'> {
  readonly context: JudgeContext
  readonly mode: Simulation['mode']
}

const SESSIONS = 1_000

/** What rules would have done to the sessions of files. Files are added one by one. */
class ImportedSimulation {
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

const NS_PER_MS = 1_000_000n

/** The model requests that a trace file tells of, oldest first; without conversations, since traces have none. */
const tracedRequests = (reading: ImportReading): readonly RebuiltRequest[] => {
  const requests: RebuiltRequest[] = []
  for (const one of reading.records()) {
    const run = reading.runs[one.run]?.run
    if (one.kind !== 'span' || run === undefined || !isRequest(one.record)) continue
    requests.push(requestOf(one.record, run.session_id ?? run.trace_id, run.agent_name ?? ''))
  }
  return requests.sort((a, b) => a.at - b.at)
}

const isRequest = ({ kind, name, attributes = {} }: SpanDraft): boolean =>
  kind === 'model' || name === 'gen_ai.request' || MODEL_OPERATIONS.has(attributes['gen_ai.operation.name'])

const MODEL_OPERATIONS: ReadonlySet<unknown> = new Set(['chat', 'generate_content', 'text_completion'])

const requestOf = (span: SpanDraft, session_id: string, agent: string): RebuiltRequest => {
  const { id, start_ns = 0n, end_ns, status, attributes = {} } = span
  const model = textOf(attributes['gen_ai.request.model']) ?? textOf(attributes['gen_ai.response.model']) ?? 'unknown'
  const failed = status !== undefined && status !== 'ok' && status !== 'running'
  const code = attributes['http.response.status_code']
  return {
    session_id,
    agent,
    style: 'chat_completions',
    // one of its own, so that no request seems to repeat another
    body: Buffer.from(JSON.stringify({ model, messages: [{ role: 'user', content: id }] })),
    at: Number(start_ns / NS_PER_MS),
    ended_at: Number((end_ns ?? start_ns) / NS_PER_MS),
    model,
    usage: usageOf(attributes),
    cost: undefined,
    response_id: null,
    calls: [],
    text: '',
    wordless: false,
    error: failed
      ? { type: textOf(attributes['error.type']) ?? status, status: typeof code === 'number' ? code : undefined }
      : undefined,
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

const usageOf = (attributes: Attributes): Usage | undefined => {
  const count = (name: string): number => {
    const value = Number(attributes[`gen_ai.usage.${name}`] ?? 0)
    return Number.isSafeInteger(value) ? Math.max(0, value) : 0
  }
  const all = count('input_tokens')
  const output_tokens = count('output_tokens')
  if (all + output_tokens === 0) return undefined
  const cache_read_tokens = count('cache_read.input_tokens')
  const cache_write_tokens = count('cache_creation.input_tokens')
  const input_tokens = Math.max(0, all - cache_read_tokens - cache_write_tokens)
  return totalled({ ...noUsage, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens })
}
