import { GuardError } from 'guard-gateway/core'
import { eventWhere } from '../management/queries.ts'
import type { Mcp } from '../mcp.ts'
import { type LoadedPolicy, loadPolicy, type PolicySource } from '../policy/load.ts'
import { type McpSimulation, simulate } from './simulation.ts'

/** Which calls are judged anew. */
export interface SimulationFilters {
  readonly server_id?: string | undefined
  readonly tool?: string | undefined
  /** An age or a time. */
  readonly since?: string | undefined
}

/** A simulation with how many of the policy's own tests fail. */
export interface PolicySimulation extends McpSimulation {
  readonly failed_tests: number
}

/** What a policy would have said of the calls on record. Throws INVALID_POLICY where it cannot be used, and INVALID_FILTER. */
export const simulatePolicy = async (
  mcp: Mcp,
  source: PolicySource,
  filters: SimulationFilters,
): Promise<PolicySimulation> => {
  const { gateway, options } = mcp
  const { env, own_files = [], hide_denied_tools = false } = options
  const where = eventWhere(
    Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined)),
    gateway.clock.now(),
  )
  const loaded = await loadPolicy(gateway, source, {
    ...(env === undefined ? {} : { env }),
    hide_denied_tools,
    own_files: [...gateway.ownFiles, ...own_files],
  })
  if (loaded.policy === undefined) throw unusable(loaded)
  const simulation = await simulate(gateway, loaded.policy, where, (server_id) => folderOf(mcp, server_id))
  return { ...simulation, failed_tests: loaded.tests.filter(({ pass }) => !pass).length }
}

/** The folder of a server's process, where it is known. */
export const folderOf = (mcp: Mcp, server_id: string): string | undefined => {
  const server = mcp.serverState(server_id)?.server
  return server?.command === undefined ? undefined : (server.cwd ?? process.cwd())
}

const unusable = ({ errors: [first] }: LoadedPolicy): GuardError => {
  const { line = null, column = null, path = '', message = 'it cannot be used' } = first ?? {}
  const place = line === null ? '' : `line ${line}, column ${column}: `
  return new GuardError('INVALID_POLICY', `${place}${path.length <= 1 ? '' : `${path.slice(1)}: `}${message}`)
}
