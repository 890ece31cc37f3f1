import type { Arguments, CheckContext, CheckFinding } from 'guard-gateway/core'
import { Pace } from 'guard-gateway/lib/time-slice'
import type { RuleFinding } from '../judge/verdict.ts'
import type { CompiledCheck, CompiledRule } from './compiled.ts'

/** Bounds how long one call waits for its checks. */
export interface CheckDeadline {
  /** Resolves once the call has waited long enough; the same promise however often it is asked. */
  readonly over: () => Promise<'over'>
  /** Lets others have their turn between rules and between checks, which may each take a while. */
  readonly pace: Pace
  /** Lets go of the timer. */
  readonly end: () => void
}

/** Longest wait for all checks of one call, milliseconds: of a name that is looked up, or a long text that is judged in a thread of its own. */
const MAX_WAIT_MS = 10_000
/** What is wrong with a call is told by as many findings of each check. */
const MAX_FINDINGS = 100

/** Starts to count when a check is first waited for: most answer at once. */
export const checkDeadline = (ms: number = MAX_WAIT_MS, pace: Pace = new Pace()): CheckDeadline => {
  let timer: NodeJS.Timeout | undefined
  let over: Promise<'over'> | undefined
  return {
    over: () => {
      over ??= new Promise((resolve) => {
        timer = setTimeout(resolve, ms, 'over')
      })
      return over
    },
    pace,
    end: () => clearTimeout(timer),
  }
}

const cannotTell = (reason: string): CheckFinding => ({ pointer: '', reason, certain: false })

/** What the checks of a rule object to, at once where no check has to wait; one that fails or takes too long cannot tell, which counts. */
export const findingsOf = (
  rule: CompiledRule,
  args: Arguments,
  at: CheckContext,
  wait: CheckDeadline,
): readonly RuleFinding[] | Promise<readonly RuleFinding[]> => {
  const started: (Found | Promise<Found>)[] = []
  for (const check of rule.checks) {
    if (started.length > 0 && wait.pace.due) return startedInTurns(rule, started, args, at, wait)
    started.push(start(check, args, at))
  }
  return started.some(isPromise) ? allNamed(rule, started, wait) : named(rule, started as readonly Found[])
}

/** Starts the checks after those that have been started. */
const startedInTurns = async (
  rule: CompiledRule,
  started: (Found | Promise<Found>)[],
  args: Arguments,
  at: CheckContext,
  wait: CheckDeadline,
): Promise<readonly RuleFinding[]> => {
  for (const check of rule.checks.slice(started.length)) {
    if (wait.pace.due) await wait.pace.rest()
    started.push(start(check, args, at))
  }
  return allNamed(rule, started, wait)
}

const allNamed = async (
  rule: CompiledRule,
  started: readonly (Found | Promise<Found>)[],
  wait: CheckDeadline,
): Promise<readonly RuleFinding[]> =>
  named(rule, await Promise.all(started.map((found) => (isPromise(found) ? inTime(found, wait) : found))))

type Found = readonly CheckFinding[]

const start = ({ check, options }: CompiledCheck, args: Arguments, at: CheckContext): Found | Promise<Found> => {
  try {
    const found: unknown = check.find(args, options as never, at)
    return isPromise(found) ? found.then(sound).catch(() => FAILED) : sound(found)
  } catch {
    return FAILED
  }
}

/** What a check found, if it is a list of findings: nothing else may count as none. */
const sound = (found: unknown): Found => (Array.isArray(found) && found.every(isFinding) ? found : FAILED)

const isFinding = (finding: unknown): boolean =>
  typeof finding === 'object' &&
  finding !== null &&
  typeof Reflect.get(finding, 'pointer') === 'string' &&
  typeof Reflect.get(finding, 'reason') === 'string'

const FAILED: Found = [cannotTell('cannot be judged: the check failed')]

const isPromise = <T>(found: T | Promise<T>): found is Promise<T> =>
  typeof (found as Partial<Promise<T>> | null | undefined)?.then === 'function'

const named = ({ id, checks }: CompiledRule, all: readonly Found[]): readonly RuleFinding[] =>
  all.flatMap((found, index) =>
    found.slice(0, MAX_FINDINGS).map((finding) => ({ ...finding, rule_id: id, check: checks[index]?.check.id ?? '' })),
  )

const inTime = async (found: Promise<Found>, wait: CheckDeadline): Promise<Found> => {
  const first = await Promise.race([found, wait.over()])
  return first === 'over' ? [cannotTell('cannot be judged: the check took too long')] : first
}
