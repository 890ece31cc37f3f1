import type { FastifyInstance } from 'fastify'
import { AsyncSeriesBailHook, AsyncSeriesHook, AsyncSeriesWaterfallHook, SyncHook, SyncWaterfallHook } from 'tapable'
import type { Call } from './call.ts'
import type { Client, ProxyRequest, Reply } from './contracts/reply.ts'
import type { Decision } from './decision.ts'
import { noteThrower, throwerOf, thrownBy } from './errors/thrower.ts'
import type { Fragment } from './fragment.ts'
import type { Recording } from './record.ts'
import type { Settled } from './settled.ts'
import type { ToolRecording } from './trace/tool-record.ts'

/** The joints of the gateway's life and of one call. A tap's name is its plugin's. */
export const createHooks = () => {
  const fault = new SyncHook<[error: unknown, where: string]>(['error', 'where'])
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
    /** Something failed that nobody waits for. */
    fault,
    /** Release what was acquired. Isolated. */
    close: isolated(new AsyncSeriesHook<[]>([]), 'close', fault),
  })
}

export type Hooks = ReturnType<typeof createHooks>

/** The part of a hook that wrapping its taps needs. */
interface Interceptable {
  intercept(interceptor: { register: <T extends { name: string; type: string; fn: unknown }>(tap: T) => T }): void
}

type Run = (...args: unknown[]) => unknown

/** Wraps every tap: what it throws is noted as thrown by it. A promise is given on as it is. */
const attributed = <H>(hook: H, name: string): H => {
  const register = <T extends { name: string; type: string; fn: unknown }>(tap: T): T => {
    const run = tap.fn as Run
    const who = `${name}:${tap.name}`
    const note = (error: unknown) => noteThrower(error, who)
    const sync: Run = (...args) => thrownBy(who, () => run(...args))
    const promise: Run = (...args) => {
      const work = thrownBy(who, () => run(...args))
      if (work instanceof Promise) work.catch(note)
      return work
    }
    return { ...tap, fn: tap.type === 'promise' ? promise : sync }
  }
  ;(hook as Interceptable).intercept({ register })
  return hook
}

/** Wraps every tap: what it throws goes to `fault` with the tap's name, and the other taps still run. */
const isolated = <H>(hook: H, name: string, fault: SyncHook<[error: unknown, where: string]>): H => {
  const register = <T extends { name: string; type: string; fn: unknown }>(tap: T): T => {
    const run = tap.fn as Run
    const report = (error: unknown) => fault.call(error, throwerOf(error) ?? `${name}:${tap.name}`)
    const sync = (...args: unknown[]) => {
      try {
        return run(...args)
      } catch (error) {
        report(error)
      }
    }
    const promise = async (...args: unknown[]) => {
      try {
        return await run(...args)
      } catch (error) {
        report(error)
      }
    }
    if (tap.type === 'async') throw new TypeError(`hook ${name} takes tap and tapPromise, not tapAsync`)
    return { ...tap, fn: tap.type === 'promise' ? promise : sync }
  }
  ;(hook as Interceptable).intercept({ register })
  return hook
}
