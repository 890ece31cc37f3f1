import type { SyncHook } from 'tapable'
import { errorOrigin, noteTurn, withOrigin } from './errors/error-origin.ts'

/** The part of a hook that wrapping its taps needs. */
interface Interceptable {
  intercept(interceptor: { register: <T extends { name: string; type: string; fn: unknown }>(tap: T) => T }): void
}

/** A hook whose `tapPromise` takes taps that answer at once, too, where they need not wait. */
type Prompt<H> = H extends {
  tapPromise(options: infer O, fn: (...args: infer A) => Promise<infer R>): void
}
  ? Omit<H, 'tapPromise'> & { tapPromise(options: O, fn: (...args: A) => R | Promise<R>): void }
  : H

/** A tap; no hook has more than two arguments. */
type Run = (first?: unknown, second?: unknown) => unknown
type Done = (error?: unknown, value?: unknown) => void
type Failed = (error: unknown, done: Done) => void

/** Wraps every tap: what it throws is noted as thrown by it. `parameters`: of the hook. */
export const attributed = <H>(hook: H, name: string, parameters = 1): Prompt<H> => {
  const register = <T extends { name: string; type: string; fn: unknown }>(tap: T): T => {
    const run = tap.fn as Run
    const who = `${name}:${tap.name}`
    if (tap.type === 'sync') return { ...tap, fn: noted(run, who) }
    const failed: Failed = (error, done) => done(withOrigin(error, who))
    if (tap.type === 'async') return { ...tap, fn: calledBack(tap.fn as (...args: unknown[]) => void, failed) }
    return { ...tap, type: 'async', fn: awaited(run, failed, parameters, who) }
  }
  ;(hook as Interceptable).intercept({ register })
  return hook as Prompt<H>
}

const noted =
  (run: Run, who: string): Run =>
  (first, second) => {
    try {
      return run(first, second)
    } catch (error) {
      throw withOrigin(error, who)
    }
  }

/** A tap that calls back: what it throws is called back, too, since whoever comes before it may have been waited for. */
const calledBack =
  (run: (...args: unknown[]) => void, failed: Failed) =>
  (...args: unknown[]): void => {
    try {
      run(...args)
    } catch (error) {
      failed(error, args.at(-1) as Done)
    }
  }

/**
 * A tap that answers with a promise as one that calls back: every further promise on the way of a request costs. What is no promise is the value itself.
 * `count`: of the hook's arguments, behind which the one to call back stands; lists of arguments would cost, too.
 */
const awaited = (run: Run, failed: Failed, count: number, who: string) => {
  if (count === 0) return (done: Done) => begin(run, failed, who, done)
  if (count === 1) return (only: unknown, done: Done) => begin(run, failed, who, done, only)
  return (first: unknown, second: unknown, done: Done) => begin(run, failed, who, done, first, second)
}

const begin = (run: Run, failed: Failed, who: string, done: Done, first?: unknown, second?: unknown): void => {
  let work: unknown
  try {
    work = run(first, second)
  } catch (error) {
    failed(error, done)
    return
  }
  if (!isThenable(work)) done(null, work)
  else {
    noteTurn(second ?? first, who)
    work.then(
      (value) => done(null, value),
      (error: unknown) => failed(error, done),
    )
  }
}

const isThenable = (work: unknown): work is PromiseLike<unknown> =>
  typeof (work as Partial<PromiseLike<unknown>> | null | undefined)?.then === 'function'

/** Wraps every tap: what it throws is lost, since a reporter that fails has nobody left to report to, and the other taps still run. */
export const silent = <H>(hook: H): H => {
  const register = <T extends { fn: unknown }>(tap: T): T => {
    const run = tap.fn as Run
    const quiet: Run = (first, second) => {
      try {
        run(first, second)
      } catch {}
    }
    return { ...tap, fn: quiet }
  }
  ;(hook as Interceptable).intercept({ register })
  return hook
}

/** Wraps every tap: what it throws goes to `fault` with the tap's name, and the other taps still run. `parameters`: of the hook. */
export const isolated = <H>(
  hook: H,
  name: string,
  fault: SyncHook<[error: unknown, where: string]>,
  parameters = 1,
): Prompt<H> => {
  const register = <T extends { name: string; type: string; fn: unknown }>(tap: T): T => {
    const run = tap.fn as Run
    const who = `${name}:${tap.name}`
    const report = (error: unknown) => fault.call(error, errorOrigin(error) ?? who)
    const sync: Run = (first, second) => {
      try {
        return run(first, second)
      } catch (error) {
        report(error)
      }
    }
    if (tap.type === 'async') throw new TypeError(`hook ${name} takes tap and tapPromise, not tapAsync`)
    if (tap.type !== 'promise') return { ...tap, fn: sync }
    const failed: Failed = (error, done) => {
      report(error)
      done()
    }
    return { ...tap, type: 'async', fn: awaited(run, failed, parameters, who) }
  }
  ;(hook as Interceptable).intercept({ register })
  return hook as Prompt<H>
}
