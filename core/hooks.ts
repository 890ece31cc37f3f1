import type { FastifyInstance } from 'fastify'
import {
  AsyncParallelHook,
  AsyncSeriesBailHook,
  AsyncSeriesHook,
  AsyncSeriesWaterfallHook,
  SyncHook,
  SyncWaterfallHook,
} from 'tapable'
import type { Call, ProviderObject } from './call.ts'
import type { Client, OutboundHead, ProxyRequest, Reply, ReplyHead } from './contracts/reply.ts'
import type { Decision } from './decision.ts'
import { GuardError } from './errors.ts'
import type { Fragment } from './fragment.ts'
import type { Notice } from './notice.ts'
import type { Recording, Settled, ToolRecording } from './settled.ts'
import { attributed, isolated, silent } from './taps.ts'

/** How a gateway opens. */
export interface OpenOptions {
  /** Although another one may be at work on the same storage. */
  readonly beside: boolean
}

/**
 * Where the gateway calls plugins, in its life and in that of one call. A tap bears the name of its plugin. `tapping`: who taps at this moment, as errors say it.
 * The name of a hook that is not there throws UNKNOWN.
 */
export const createHooks = (tapping = () => 'this program') => {
  const fault = silent(new SyncHook<[error: unknown, where: string]>(['error', 'where']))
  const hooks = {
    /** Acquire what the plugin needs, before the gateway listens. A tap that throws stops the start. */
    open: attributed(new AsyncSeriesHook<[options: OpenOptions]>(['options']), 'open'),
    /** Register routes. */
    http: attributed(new AsyncSeriesHook<[app: FastifyInstance]>(['app']), 'http'),
    /** The gateway listens at this address: `http://127.0.0.1:8787`. Isolated: what a tap throws is a fault, and the other taps run. */
    listen: isolated(new SyncHook<[url: string]>(['url']), 'listen', fault),
    /** Fill in agent, project, session, mode and upstream. A tap that throws refuses the call; nothing is recorded. */
    request: attributed(new AsyncSeriesHook<[call: Call]>(['call']), 'request'),
    /** Amend the decision, which is counted after the last tap. A tap that throws refuses the call. */
    decision: attributed(
      new AsyncSeriesWaterfallHook<[decision: Decision, call: Call]>(['decision', 'call']),
      'decision',
      2,
    ),
    /** Send the call to a provider: the first tap that returns a reply wins. A tap that throws gives 502 or 504, settled as unreachable. */
    forward: attributed(
      new AsyncSeriesBailHook<[call: Call, client: Client], Reply | undefined>(['call', 'client']),
      'forward',
      2,
    ),
    /** Answer an unguarded request: the first tap that returns a reply wins. A tap that throws refuses the request. Nothing is decided or recorded. */
    proxy: attributed(
      new AsyncSeriesBailHook<[request: ProxyRequest, client: Client], Reply | undefined>(['request', 'client']),
      'proxy',
      2,
    ),
    /** Change the head of each try at an upstream, as to sign it; at most 10 s. A tap that throws refuses the request. */
    outbound: attributed(
      new AsyncSeriesHook<[head: OutboundHead, request: Call | ProxyRequest]>(['head', 'request']),
      'outbound',
      2,
    ),
    /** Change the head of a reply on a model path, one of our own too. `request`: absent where it was refused unread. Isolated. */
    reply: isolated(
      new SyncHook<[head: ReplyHead, request: Call | ProxyRequest | undefined]>(['head', 'request']),
      'reply',
      fault,
      2,
    ),
    /** A reply to a guarded call names an object of the provider's account: with the event that first names it, before that is passed on. Isolated. */
    named: isolated(
      new SyncHook<[object: ProviderObject & { readonly upstream: string }, call: Call]>(['object', 'call']),
      'named',
      fault,
      2,
    ),
    /** Runs exactly once for each guarded call, before its reply ends. Isolated. */
    settle: isolated(new AsyncSeriesHook<[settled: Settled]>(['settled']), 'settle', fault),
    /** Add what commits together with a call's record. A tap that throws loses the record. */
    record: attributed(new AsyncSeriesHook<[recording: Recording]>(['recording']), 'record'),
    /** A tool call has ended. True: its trace is read from its record. False: its writer sends a fragment. Watchers use a stage after `stages.tool.trace`. */
    tool: attributed(
      new SyncWaterfallHook<[isRead: boolean, recording: ToolRecording]>(['isRead', 'recording']),
      'tool',
      2,
    ),
    /** Amend what a writer says of a run, before it is redacted. What a tap throws reaches the writer. */
    trace: attributed(new AsyncSeriesWaterfallHook<[fragment: Fragment]>(['fragment']), 'trace'),
    /** Write redacted fragments, all of them or none. What a tap throws reaches the writer. Watchers use a stage after `stages.keep.write`. */
    keep: attributed(new AsyncSeriesHook<[fragments: readonly Fragment[]]>(['fragments']), 'keep'),
    /** Retention is about to remove these traces: note what must outlive them. A tap that throws keeps them for now. */
    forget: attributed(new AsyncSeriesHook<[trace_ids: readonly string[]]>(['trace_ids']), 'forget'),
    /** Report a failure that nobody waits for. What a tap throws is lost. */
    fault,
    /** Tell of something that a person may want to hear of, once it is so. A tap remembers it and returns. Isolated. */
    notice: isolated(new SyncHook<[notice: Notice]>(['notice']), 'notice', fault),
    /** No new work begins: let the work in flight end. The gateway waits a limited time. Isolated. */
    drain: isolated(new AsyncParallelHook<[]>([]), 'drain', fault, 0),
    /** Release what the plugin acquired. Isolated. */
    close: isolated(new AsyncSeriesHook<[]>([]), 'close', fault, 0),
  }
  const known = Object.keys(hooks)
  // behind the hooks, so that what is there is found without it
  const others = new Proxy(Object.prototype, {
    get(target, name) {
      if (typeof name === 'symbol' || name in target) return Reflect.get(target, name)
      const message = `There is no hook "${name}", which ${tapping()} taps; there is ${known.join(', ')}.`
      throw new GuardError('UNKNOWN', message, { known })
    },
  })
  return Object.freeze(Object.assign(Object.create(others) as object, hooks))
}
