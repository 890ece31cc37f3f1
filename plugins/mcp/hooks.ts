import type { Gateway } from 'guard-gateway/core'
import { AsyncSeriesBailHook, AsyncSeriesHook, AsyncSeriesWaterfallHook, SyncWaterfallHook } from 'tapable'
import type { Frame } from '#lib/json-rpc'
import type { ToolCall } from './judge/tool-call.ts'
import type { PartialVerdict } from './judge/verdict.ts'

/** Where a message goes, and in which session. */
export interface FrameContext {
  readonly direction: 'to_server' | 'to_client'
  readonly server_id: string
  readonly session_id: string
}

/** How a forwarded call ended. */
export interface CallOutcome {
  readonly server_id: string
  readonly session_id: string
  readonly tool: string
  readonly outcome: 'ok' | 'tool_error' | 'rpc_error' | 'cancelled' | 'timeout' | 'lost'
  /** UTF-8 bytes of the answer; null if there was none. */
  readonly result_bytes: number | null
}

const createHooks = () =>
  Object.freeze({
    /** Amend a message before it is judged or relayed. A tap that throws ends that message. */
    frame: new AsyncSeriesWaterfallHook<[frame: Frame, place: FrameContext]>(['frame', 'place']),
    /** Amend the result of a `tools/list`, as JSON text, after hiding and widening. A tap that throws ends that message. */
    list: new SyncWaterfallHook<[result: string, place: FrameContext]>(['result', 'place']),
    /** The first tap that answers adds its opinion of a call, which can only make the verdict stricter. A tap that throws denies the call. */
    call: new AsyncSeriesBailHook<[call: ToolCall], PartialVerdict | undefined>(['call']),
    /** Watch how forwarded calls end. What a tap throws is a fault. */
    outcome: new AsyncSeriesHook<[outcome: CallOutcome]>(['outcome']),
  })

export type McpHooks = ReturnType<typeof createHooks>

declare module 'guard-gateway/core' {
  interface Services {
    mcpHooks: McpHooks
  }
}

/** The hooks of the MCP proxy of a gateway; a plugin that taps them may come before the proxy. */
export const mcpHooks = (gateway: Gateway): McpHooks => gateway.service('mcpHooks').getOrProvide(createHooks)
