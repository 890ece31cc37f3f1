import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { type Gateway, GuardError } from 'guard-gateway/core'
import type { Input, Io } from 'guard-gateway/lib/command'
import type { RebuiltRequest } from 'guard-gateway/lib/export-format'
import { terminalLine } from 'guard-gateway/lib/text'
import { type ImportFile, type ImportUnit, importFile, importUnits } from 'guard-gateway/lib/trace-file'
import type { PolicyCommandOptions } from '../../commands/command-context.ts'
import { requestedPolicy } from '../../commands/requested-policy.ts'
import { readRuleList } from '../../document/document.ts'
import { policyOf } from '../../policy.ts'
import { printSimulation } from '../print.ts'
import { readSimulation } from '../request.ts'
import { ImportedSimulation } from './imported.ts'

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
  const given = Object.fromEntries(Object.entries(range).filter(([, value]) => value !== undefined))
  const request = await readSimulation(
    { ...body, ...given },
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
