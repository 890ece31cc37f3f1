import type { ErrorObject, ValidateFunction } from 'ajv'
import type { Gateway } from 'guard-gateway/core'
import { type McpCheck, type McpResultCheck, mcpCheckKind, mcpResultCheckKind } from 'guard-gateway/lib/mcp-check'
import { policySchema } from './schema.ts'

/** The most keys and values of a policy for which all errors are reported at once: the work grows with the square of the faults. */
export const MAX_REPORTED = 5_000

interface CachedValidator {
  readonly checks: readonly (McpCheck | McpResultCheck)[]
  readonly all?: ValidateFunction
  readonly first?: ValidateFunction
}
let known: CachedValidator | undefined

/** The schema follows the registered checks, which gateways of one process mostly have in common, and compiling it takes longer than everything else here. */
const validatorFor = async (gateway: Gateway, kind: 'all' | 'first'): Promise<ValidateFunction> => {
  const registered: Iterable<McpCheck> = gateway.registry(mcpCheckKind)
  const ofResults: Iterable<McpResultCheck> = gateway.registry(mcpResultCheckKind)
  const checks = [...registered, ...ofResults]
  const isSame = known?.checks.length === checks.length && known.checks.every((check, index) => check === checks[index])
  const ready = isSame ? known?.[kind] : undefined
  if (ready !== undefined) return ready
  const { Ajv2020 } = await import('ajv/dist/2020.js')
  const ajv = new Ajv2020({
    allErrors: kind === 'all',
    verbose: true,
    strict: false,
    validateFormats: false,
    ownProperties: true,
    // ours and the checks', held to be schemas by their types; reading the schema of schemas takes longer than all else here
    validateSchema: false,
    meta: false,
    // tidying the code takes longer than the one policy that it reads
    code: { optimize: false },
  })
  const validate = ajv.compile(policySchema(registered, ofResults))
  known = { ...(isSame ? known : {}), checks, [kind]: validate }
  return validate
}

/** What the schema has against a policy: everything, or of a large one the first thing. */
export const schemaErrors = async (value: unknown, gateway: Gateway): Promise<readonly ErrorObject[]> => {
  const validate = await validatorFor(gateway, hasMoreParts(value, MAX_REPORTED) ? 'first' : 'all')
  return validate(value) ? [] : (validate.errors ?? [])
}

/** Whether a value, whose depth is bounded, is made of more parts than so many; examines no more. */
export const hasMoreParts = (value: unknown, most: number): boolean => {
  let left = most
  const spend = (part: unknown): boolean => {
    left--
    if (typeof part !== 'object' || part === null || left < 0) return left < 0
    return (Array.isArray(part) ? part : Object.values(part)).some(spend)
  }
  return spend(value)
}
