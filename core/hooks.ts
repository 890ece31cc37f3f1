import type { FastifyInstance } from 'fastify'
import {
  AsyncParallelHook,
  AsyncSeriesBailHook,
  AsyncSeriesHook,
  AsyncSeriesWaterfallHook,
  SyncHook,
  SyncWaterfallHook,
} from 'tapable'
import type { Call } from './call.ts'
import type { Recording, ToolRecording } from './contracts/recording.ts'
import type { Client, ProxyRequest, Reply } from './contracts/reply.ts'
import type { Decision } from './decision.ts'
import type { Fragment } from './fragment.ts'
import type { Settled } from './settled.ts'
import { attributed, isolated, silent } from './taps.ts'

/** How a gateway opens. */
export interface OpenOptions {
  /** Although another one may be at work on the same storage. */
  readonly beside: boolean
}

/** The joints of the gateway's life and of one call. A tap's name is its plugin's. */
export const createHooks = () => {
  const fault = silent(new SyncHook<[error: unknown, where: string]>(['error', 'where']))
  return Object.freeze({
    /** Acquire what is needed, before anything listens. A tap that throws stops the start. */
    open: attributed(new AsyncSeriesHook<[options: OpenOptions]>(['options']), 'open'),
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
      2,
    ),
    /** The first tap that answers, answers. A tap that throws gives 502 or 504, settled as unreachable. */
    forward: attributed(
      new AsyncSeriesBailHook<[call: Call, client: Client], Reply | undefined>(['call', 'client']),
      'forward',
      2,
    ),
    /** An unguarded request: the first tap that answers, answers; one that throws refuses it. Nothing is decided or recorded. */
    proxy: attributed(
      new AsyncSeriesBailHook<[request: ProxyRequest, client: Client], Reply | undefined>(['request', 'client']),
      'proxy',
      2,
    ),
    /** Exactly once a guarded call, before its reply ends. Isolated. */
    settle: isolated(new AsyncSeriesHook<[settled: Settled]>(['settled']), 'settle', fault),
    /** A settled call is about to be recorded: push what commits with it. A tap that throws loses the record. */
    record: attributed(new AsyncSeriesHook<[recording: Recording]>(['recording']), 'record'),
    /** A call of a tool has ended: true if its trace is read from its record. Otherwise its writer tells of it in a fragment. Watchers come behind the store. */
    tool: attributed(
      new SyncWaterfallHook<[isRead: boolean, recording: ToolRecording]>(['isRead', 'recording']),
      'tool',
      2,
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
    drain: isolated(new AsyncParallelHook<[]>([]), 'drain', fault, 0),
    /** Release what was acquired. Isolated. */
    close: isolated(new AsyncSeriesHook<[]>([]), 'close', fault, 0),
  })
}

export type Hooks = ReturnType<typeof createHooks>
