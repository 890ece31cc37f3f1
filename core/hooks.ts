import type { FastifyInstance } from 'fastify'
import { AsyncSeriesBailHook, AsyncSeriesHook, AsyncSeriesWaterfallHook, SyncHook, SyncWaterfallHook } from 'tapable'
import type { Call } from './call.ts'
import type { Client, ProxyRequest, Reply } from './contracts/reply.ts'
import type { Decision } from './decision.ts'
import type { Fragment } from './fragment.ts'
import type { Recording } from './record.ts'
import type { Settled } from './settled.ts'
import type { ToolRecording } from './tool-record.ts'

/** The joints of the gateway's life and of one call. A tap's name is its plugin's. */
export const createHooks = () => {
  const fault = new SyncHook<[error: unknown, where: string]>(['error', 'where'])
  return Object.freeze({
    /** Acquire what is needed, before anything listens. A tap that throws stops the start. */
    open: new AsyncSeriesHook<[]>([]),
    /** Register routes. */
    http: new AsyncSeriesHook<[app: FastifyInstance]>(['app']),
    /** Fill in agent, project, session, mode and upstream. A tap that throws refuses the call; nothing is recorded. */
    request: new AsyncSeriesHook<[call: Call]>(['call']),
    /** Amend the decision. A tap that throws refuses the call. */
    decision: new AsyncSeriesWaterfallHook<[decision: Decision, call: Call]>(['decision', 'call']),
    /** The first tap that answers, answers. A tap that throws gives 502 or 504, settled as unreachable. */
    forward: new AsyncSeriesBailHook<[call: Call, client: Client], Reply | undefined>(['call', 'client']),
    /** An unguarded request: the first tap that answers, answers; one that throws refuses it. Nothing is decided or recorded. */
    proxy: new AsyncSeriesBailHook<[request: ProxyRequest, client: Client], Reply | undefined>(['request', 'client']),
    /** Exactly once a guarded call, before its reply ends. Isolated. */
    settle: isolated(new AsyncSeriesHook<[settled: Settled]>(['settled']), 'settle', fault),
    /** A settled call is about to be recorded: push what commits with it. A tap that throws loses the record. */
    record: new AsyncSeriesHook<[recording: Recording]>(['recording']),
    /** A call of a tool has ended: true if its trace is read from its record. Otherwise its writer tells of it in a fragment. Watchers come behind the store. */
    tool: new SyncWaterfallHook<[isRead: boolean, recording: ToolRecording]>(['isRead', 'recording']),
    /** Amend what a writer says of a run, before it is redacted. What a tap throws reaches the writer. */
    trace: new AsyncSeriesWaterfallHook<[fragment: Fragment]>(['fragment']),
    /** Redacted fragments that are kept together or not at all. What a tap throws reaches the writer; watchers come behind the store. */
    keep: new AsyncSeriesHook<[fragments: readonly Fragment[]]>(['fragments']),
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

/** Wraps every tap: what it throws goes to `fault` with the tap's name, and the other taps still run. */
const isolated = <H>(hook: H, name: string, fault: SyncHook<[error: unknown, where: string]>): H => {
  const register = <T extends { name: string; type: string; fn: unknown }>(tap: T): T => {
    const run = tap.fn as (...args: unknown[]) => unknown
    const report = (error: unknown) => fault.call(error, `${name}:${tap.name}`)
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
