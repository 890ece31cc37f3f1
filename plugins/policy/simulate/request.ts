import { type Gateway, GuardError, type Mode, type Rule } from 'guard-gateway/core'
import { isJsonObject, type JsonObject } from '#lib/json'
import { instantOf } from '#lib/time'
import { readChange } from '../document/document.ts'
import type { Policy } from '../policy.ts'
import type { SimulationRequest } from './index.ts'

const MAX_SESSIONS = 1000

/** Reads a simulation request; members left out are those of the policy in force. Throws INVALID_POLICY and INVALID_REQUEST. */
export const readSimulation = async (
  document: unknown,
  project_id: string,
  inForce: Pick<Policy, 'mode' | 'rules'>,
  gateway: Gateway,
  presets: Readonly<Record<string, readonly Rule[]>>,
  defaultMode: Mode,
): Promise<SimulationRequest> => {
  const { since, until, session_ids, limit, ...wanted } = partsOf(document)
  const isList = Array.isArray(document)
  const isChange = isList || Object.keys(wanted).length > 0
  const change = isChange ? await readChange(isList ? document : wanted, gateway.detectors, presets) : {}
  const now = gateway.clock.now()
  return {
    project_id,
    rules: change.rules ?? inForce.rules,
    mode: change.mode ?? inForce.mode ?? defaultMode,
    ...(since === undefined ? {} : { since: timeOf('since', since, now) }),
    ...(until === undefined ? {} : { until: timeOf('until', until, now) }),
    ...(session_ids === undefined ? {} : { session_ids: idsOf(session_ids) }),
    ...(limit === undefined ? {} : { limit: limitOf(limit) }),
  }
}

/** The members of a body; a list of rules has none. */
const partsOf = (document: unknown): JsonObject => {
  if (document === undefined || document === null || Array.isArray(document)) return {}
  if (isJsonObject(document)) return document
  throw new GuardError('INVALID_REQUEST', 'The body must be an object or a list of rules.', { path: '' })
}

const invalid = (name: string, expected: string): GuardError =>
  new GuardError('INVALID_REQUEST', `"${name}" must be ${expected}.`, { path: `/${name}` })

const timeOf = (name: string, value: unknown, now: number): number => {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  const at = typeof value === 'string' ? instantOf(value, now) : undefined
  if (at !== undefined) return at
  throw invalid(name, 'a time like 2026-01-31T12:00:00Z, milliseconds since 1970, an age like 24h, today or yesterday')
}

const idsOf = (value: unknown): readonly string[] => {
  if (Array.isArray(value) && value.length <= MAX_SESSIONS && value.every((id) => typeof id === 'string')) return value
  throw invalid('session_ids', `a list of at most ${MAX_SESSIONS} ids of sessions`)
}

const limitOf = (value: unknown): number => {
  if (Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= MAX_SESSIONS) return Number(value)
  throw invalid('limit', `an integer from 1 to ${MAX_SESSIONS}`)
}
