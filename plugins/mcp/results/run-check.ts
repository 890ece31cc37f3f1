import type { ResultContext, ResultFinding, ToolResult } from 'guard-gateway/lib/mcp-check'
import type { CheckDeadline } from '../policy/checks.ts'
import type { CompiledResultCheck } from '../policy/compiled.ts'

/** What a check has against a result. One that fails, takes too long or answers anything else could not tell. */
export const findingsOf = async (
  { check, options }: CompiledResultCheck,
  result: ToolResult,
  at: ResultContext,
  wait: CheckDeadline,
): Promise<readonly ResultFinding[]> => {
  try {
    const found = check.find(result, options as never, at)
    const first = found instanceof Promise ? await Promise.race([found, wait.over()]) : found
    if (first === 'over') return [uncertain('the check took too long')]
    return Array.isArray(first) && first.every(isFinding) ? first : [uncertain('the check failed')]
  } catch {
    return [uncertain('the check failed')]
  }
}

const uncertain = (why: string): ResultFinding => ({
  pointer: '',
  reason: `cannot be judged: ${why}`,
  certain: false,
})

const isFinding = (finding: unknown): boolean => {
  if (typeof finding !== 'object' || finding === null) return false
  const { pointer, reason, edit } = finding as Partial<ResultFinding>
  return typeof pointer === 'string' && typeof reason === 'string' && (edit === undefined || isEdit(edit))
}

const isEdit = ({ start, end, text }: NonNullable<ResultFinding['edit']>): boolean =>
  Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start <= end && typeof text === 'string'
