import type { FastifyInstance } from 'fastify'
import {
  AsyncParallelHook,
  AsyncSeriesBailHook,
  AsyncSeriesHook,
  AsyncSeriesWaterfallHook,
  SyncHook,
  SyncWaterfallHook,
} from 'tapable'
import type { Recording, ToolRecording } from '../plugins/lib/trace.ts'
import type { Call } from './call.ts'
import type { Client, ProxyRequest, Reply } from './contracts/reply.ts'
import type { Decision } from './decision.ts'
import { noteThrower, throwerOf } from './errors/error-origin.ts'
import type { Fragment } from './fragment.ts'
import type { Settled } from './settled.ts'

/** The joints of the gateway's life and of one call. A tap's name is its plugin's. */
export const createHooks = () => {
  const fault = silent(new SyncHook<[error: unknown, where: string]>(['error', 'where']))
  return Object.freeze({
    /** Acquire what is needed, before anything listens. A tap that throws stops the start. */
    open: attributed(new AsyncSeriesHook<[]>([]), 'open'),
    /** Register routes. */
    http: attributed(new AsyncSeriesHook<[app: FastifyInstance]>(['app']), 'http'),
    /** The gateway answers at this address from now on: `http://127.0.0.1:8787`. Isolated. */
    listen: isolated(new SyncHook<[url: string]>(['url']), 'listen', fault),
    /** Fill in agent, project, session, mode and upstream. A tap that throws refuses the call; nothing is recorded. */
    request: attributed(new AsyncSeriesHook<[call: Call]>(['call']), 'request'),
    /** Amend the decision. A tap that throws refuses the call. */
    decision: attributed(
      new AsyncSeriesWaterfallHook<[decision: Decision, call: Call]>(['decision', 'call']),
      'decision',
    ),
    /** The first tap that answers, answers. A tap that throws gives 502 or 504, settled as unreachable. */
    forward: attributed(
      new AsyncSeriesBailHook<[call: Call, client: Client], Reply | undefined>(['call', 'client']),
      'forward',
    ),
    /** An unguarded request: the first tap that answers, answers; one that throws refuses it. Nothing is decided or recorded. */
    proxy: attributed(
      new AsyncSeriesBailHook<[request: ProxyRequest, client: Client], Reply | undefined>(['request', 'client']),
      'proxy',
    ),
    /** Exactly once a guarded call, before its reply ends. Isolated. */
    settle: isolated(new AsyncSeriesHook<[settled: Settled]>(['settled']), 'settle', fault),
    /** A settled call is about to be recorded: push what commits with it. A tap that throws loses the record. */
    record: attributed(new AsyncSeriesHook<[recording: Recording]>(['recording']), 'record'),
    /** A call of a tool has ended: true if its trace is read from its record. Otherwise its writer tells of it in a fragment. Watchers come behind the store. */
    tool: attributed(
      new SyncWaterfallHook<[isRead: boolean, recording: ToolRecording]>(['isRead', 'recording']),
      'tool',
    ),
    /** Amend what a writer says of a run, before it is redacted. What a tap throws reaches the writer. */
    trace: attributed(new AsyncSeriesWaterfallHook<[fragment: Fragment]>(['fragment']), 'trace'),
    /** Redacted fragments that are kept together or not at all. What a tap throws reaches the writer; watchers come behind the store. */
    keep: attributed(new AsyncSeriesHook<[fragments: readonly Fragment[]]>(['fragments']), 'keep'),
    /** The records of these traces are about to be removed for their age or their room: note what must outlive them. A tap that throws keeps them for now. */
    forget: attributed(new AsyncSeriesHook<[trace_ids: readonly string[]]>(['trace_ids']), 'forget'),
    /** Something failed that nobody waits for. What a tap throws is lost. */
    fault,
    /** Nothing new is taken up any more: let what is under way end. It is waited for only so long. Isolated. */
    drain: isolated(new AsyncParallelHook<[]>([]), 'drain', fault),
    /** Release what was acquired. Isolated. */
    close: isolated(new AsyncSeriesHook<[]>([]), 'close', fault),
  })
}

export type Hooks = ReturnType<typeof createHooks>

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

/** Wraps every tap: what it throws is noted as thrown by it. */
const attributed = <H>(hook: H, name: string): Prompt<H> => {
  const register = <T extends { name: string; type: string; fn: unknown }>(tap: T): T => {
    const run = tap.fn as Run
    const who = `${name}:${tap.name}`
    if (tap.type === 'sync') return { ...tap, fn: noted(run, who) }
    const failed: Failed = (error, done) => {
      noteThrower(error, who)
      done(thrown(error))
    }
    if (tap.type === 'async') return { ...tap, fn: calledBack(tap.fn as (...args: unknown[]) => void, failed) }
    return { ...tap, type: 'async', fn: awaited(run, failed, argumentsOf(hook)) }
  }
  ;(hook as Interceptable).intercept({ register })
  return hook as Prompt<H>
}

const argumentsOf = (hook: unknown): number => (hook as { readonly _args: readonly string[] })._args.length

const noted =
  (run: Run, who: string): Run =>
  (first, second) => {
    try {
      return run(first, second)
    } catch (error) {
      noteThrower(error, who)
      throw error
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
const awaited = (run: Run, failed: Failed, count: number) => {
  if (count === 0) return (done: Done) => begin(run, failed, done)
  if (count === 1) return (only: unknown, done: Done) => begin(run, failed, done, only)
  return (first: unknown, second: unknown, done: Done) => begin(run, failed, done, first, second)
}

const begin = (run: Run, failed: Failed, done: Done, first?: unknown, second?: unknown): void => {
  let work: unknown
  try {
    work = run(first, second)
  } catch (error) {
    failed(error, done)
    return
  }
  if (!isThenable(work)) done(null, work)
  else
    work.then(
      (value) => done(null, value),
      (error: unknown) => failed(error, done),
    )
}

const isThenable = (work: unknown): work is PromiseLike<unknown> =>
  typeof (work as Partial<PromiseLike<unknown>> | null | undefined)?.then === 'function'

/** Whoever is called back takes what is falsy for no error. */
const thrown = (error: unknown): unknown => (error ? error : new Error(`rejected with ${String(error)}`))

/** Wraps every tap: what it throws is lost, since a reporter that fails has nobody left to report to, and the other taps still run. */
const silent = <H>(hook: H): H => {
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

/** Wraps every tap: what it throws goes to `fault` with the tap's name, and the other taps still run. */
const isolated = <H>(hook: H, name: string, fault: SyncHook<[error: unknown, where: string]>): Prompt<H> => {
  const register = <T extends { name: string; type: string; fn: unknown }>(tap: T): T => {
    const run = tap.fn as Run
    const report = (error: unknown) => fault.call(error, throwerOf(error) ?? `${name}:${tap.name}`)
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
    return { ...tap, type: 'async', fn: awaited(run, failed, argumentsOf(hook)) }
  }
  ;(hook as Interceptable).intercept({ register })
  return hook as Prompt<H>
}
