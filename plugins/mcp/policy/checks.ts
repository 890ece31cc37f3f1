import type { Arguments, CheckContext, CheckFinding } from '#lib/mcp-check'
import { Pace } from '#lib/time-slice'
import type { RuleFinding } from '../judge/verdict.ts'
import type { CompiledCheck, CompiledRule } from './compiled.ts'

/** Bounds how long one call waits for its checks. */
export interface CheckDeadline {
  /** Resolves once the call has waited long enough; the same promise however often it is asked. */
  readonly over: () => Promise<'over'>
  /** Lets others have their turn between rules and between checks, which may each take a while. */
  readonly pace: Pace
  /** Clears the timer. */
  readonly end: () => void
}

/** Longest wait for all checks of one call, milliseconds: of a name that is looked up, or a long text that is judged in a process of its own. */
const MAX_WAIT_MS = 10_000
/** Findings of one check that are kept. */
const MAX_FINDINGS = 100

/** The time starts when a check is first waited for: most checks answer at once. */
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

const uncertain = (reason: string): CheckFinding => ({ pointer: '', reason, certain: false })

/** Findings of a rule's checks, synchronous where no check has to wait. A check that fails or takes too long gives an uncertain finding. */
export const findingsOf = (
  rule: CompiledRule,
  args: Arguments,
  at: CheckContext,
  wait: CheckDeadline,
): readonly RuleFinding[] | Promise<readonly RuleFinding[]> => {
  const started: (Findings | Promise<Findings>)[] = []
  for (const check of rule.checks) {
    if (started.length > 0 && wait.pace.due) return startedInTurns(rule, started, args, at, wait)
    started.push(start(check, args, at))
  }
  return started.some(isPromise) ? awaitedFindings(rule, started, wait) : withRule(rule, started as readonly Findings[])
}

/** Starts the checks after those that have been started. */
const startedInTurns = async (
  rule: CompiledRule,
  started: (Findings | Promise<Findings>)[],
  args: Arguments,
  at: CheckContext,
  wait: CheckDeadline,
): Promise<readonly RuleFinding[]> => {
  for (const check of rule.checks.slice(started.length)) {
    if (wait.pace.due) await wait.pace.rest()
    started.push(start(check, args, at))
  }
  return awaitedFindings(rule, started, wait)
}

const awaitedFindings = async (
  rule: CompiledRule,
  started: readonly (Findings | Promise<Findings>)[],
  wait: CheckDeadline,
): Promise<readonly RuleFinding[]> =>
  withRule(rule, await Promise.all(started.map((found) => (isPromise(found) ? withinDeadline(found, wait) : found))))

type Findings = readonly CheckFinding[]

const start = ({ check, options }: CompiledCheck, args: Arguments, at: CheckContext): Findings | Promise<Findings> => {
  try {
    const found: unknown = check.find(args, options as never, at)
    return isPromise(found) ? found.then(validFindings).catch(() => FAILED) : validFindings(found)
  } catch {
    return FAILED
  }
}

/** The findings of a check; anything but a list of findings counts as a failure. */
const validFindings = (found: unknown): Findings => (Array.isArray(found) && found.every(isFinding) ? found : FAILED)

const isFinding = (finding: unknown): boolean =>
  typeof finding === 'object' &&
  finding !== null &&
  typeof Reflect.get(finding, 'pointer') === 'string' &&
  typeof Reflect.get(finding, 'reason') === 'string'

const FAILED: Findings = [uncertain('cannot be judged: the check failed')]

const isPromise = <T>(found: T | Promise<T>): found is Promise<T> =>
  typeof (found as Partial<Promise<T>> | null | undefined)?.then === 'function'

const withRule = ({ id, checks }: CompiledRule, all: readonly Findings[]): readonly RuleFinding[] =>
  all.flatMap((found, index) =>
    found.slice(0, MAX_FINDINGS).map((finding) => ({ ...finding, rule_id: id, check: checks[index]?.check.id ?? '' })),
  )

const withinDeadline = async (found: Promise<Findings>, wait: CheckDeadline): Promise<Findings> => {
  const first = await Promise.race([found, wait.over()])
  return first === 'over' ? [uncertain('cannot be judged: the check took too long')] : first
}
