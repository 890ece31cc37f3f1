import type { McpResultCheck } from 'guard-gateway/lib/mcp-check'
import type { CompiledResultCheck } from './compiled.ts'
import type { ResultDocument } from './document.ts'
import type { PolicyFault, PolicyPath } from './fault.ts'
import { readyOptions } from './ready-check.ts'

/** Finds a check of results by its id. */
export type ResultChecks = { get(id: string): McpResultCheck | undefined }

/** Checks of the whole policy are named so on record. */
export const WHOLE_POLICY = 'results'

/** Makes checks of results ready. `shadow`: the policy as a whole only records. */
export const compileResults = async (
  results: readonly ResultDocument[] = [],
  { rule_id, path, shadow }: { readonly rule_id: string; readonly path: PolicyPath; readonly shadow: boolean },
  checks: ResultChecks,
  faults: PolicyFault[],
): Promise<readonly CompiledResultCheck[]> => {
  const compiled: CompiledResultCheck[] = []
  for (const [index, entry] of results.entries()) {
    const [id = '', { action = 'shadow', ...options } = {}] = Object.entries(entry)[0] ?? []
    const check = checks.get(id)
    const ready = check && (await readyOptions(check, options, [...path, index, id], faults))
    if (check === undefined || ready === undefined) continue
    compiled.push({ check, ...ready, action: shadow ? 'shadow' : action, rule_id, index })
  }
  return compiled
}
