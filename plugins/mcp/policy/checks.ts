import type { Arguments, CheckContext, CheckFinding } from 'guard-gateway/core'
import type { RuleFinding } from '../verdict.ts'
import type { CompiledCheck, CompiledRule } from './compiled.ts'

/** Bounds how long one call waits for its checks. */
export interface Patience {
  /** Resolves once the call has waited long enough; the same promise however often it is asked. */
  readonly over: () => Promise<'over'>
  /** Lets go of the timer. */
  readonly end: () => void
}

/** Longest wait for all checks of one call, milliseconds. */
const MAX_WAIT_MS = 250

/** Starts to count when a check is first waited for: most answer at once. */
export const patience = (ms: number = MAX_WAIT_MS): Patience => {
  let timer: NodeJS.Timeout | undefined
  let over: Promise<'over'> | undefined
  return {
    over: () => {
      over ??= new Promise((resolve) => {
        timer = setTimeout(resolve, ms, 'over')
      })
      return over
    },
    end: () => clearTimeout(timer),
  }
}

const cannotTell = (reason: string): CheckFinding => ({ pointer: '', reason, certain: false })

/** What the checks of a rule object to; one that fails or takes too long cannot tell, which counts. */
export const findingsOf = async (
  rule: CompiledRule,
  args: Arguments,
  at: CheckContext,
  wait: Patience,
): Promise<readonly RuleFinding[]> => {
  const findings: RuleFinding[] = []
  for (const check of rule.checks) {
    const started = start(check, args, at)
    const found = isPromise(started) ? await inTime(started, wait) : started
    for (const finding of found) findings.push({ ...finding, rule_id: rule.id, check: check.check.id })
  }
  return findings
}

type Found = readonly CheckFinding[]

const start = ({ check, options }: CompiledCheck, args: Arguments, at: CheckContext): Found | Promise<Found> => {
  try {
    return check.find(args, options as never, at)
  } catch {
    return [cannotTell('cannot be judged: the check failed')]
  }
}

const isPromise = (found: Found | Promise<Found>): found is Promise<Found> => 'then' in found

const inTime = async (found: Promise<Found>, wait: Patience): Promise<Found> => {
  const first = await Promise.race([found.catch(() => [cannotTell('cannot be judged: the check failed')]), wait.over()])
  return first === 'over' ? [cannotTell('cannot be judged: the check took too long')] : first
}
