import { type Detector, type DriverChange, Gateway, type Plugin, storage } from 'guard-gateway/core'
import { chatCompletions } from 'guard-gateway/plugins/api-styles/chat-completions'
import { messages } from 'guard-gateway/plugins/api-styles/messages'
import { errorRetry } from 'guard-gateway/plugins/detectors/error-retry'
import { exactRepeat } from 'guard-gateway/plugins/detectors/exact-repeat'
import { maxRequests } from 'guard-gateway/plugins/detectors/max-requests'
import { maxTokens } from 'guard-gateway/plugins/detectors/max-tokens'
import { sequenceRepeat } from 'guard-gateway/plugins/detectors/sequence-repeat'
import { toolRepeat } from 'guard-gateway/plugins/detectors/tool-repeat'
import { policy } from 'guard-gateway/plugins/policy'
import { recorder } from 'guard-gateway/plugins/recorder'
import { sessions } from 'guard-gateway/plugins/sessions'
import { foundation } from 'guard-gateway/presets/foundation'

/** The six rules of the default preset. */
export const detectors: readonly (Detector & Plugin)[] = [
  exactRepeat,
  toolRepeat,
  errorRetry,
  sequenceRepeat,
  maxRequests,
  maxTokens,
]

const reply = Buffer.from(
  JSON.stringify({
    id: 'chatcmpl_bench',
    object: 'chat.completion',
    model: 'bench-model',
    choices: [{ index: 0, message: { role: 'assistant', content: 'done '.repeat(120) }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 12, completion_tokens: 8, total_tokens: 20 },
  }),
)

/** Replies to every call from memory, in place of an upstream. */
const answering: Plugin = {
  name: 'bench-reply',
  apply: (gateway) =>
    gateway.hooks.forward.tap('bench-reply', () => ({
      status: 200,
      headers: ['content-type', 'application/json', 'content-length', String(reply.length)],
      body: reply,
      upstream: 'bench',
      attempts: [{ upstream: 'bench', status: 200, error: null }],
      upstream_request_id: null,
      on_disconnect: 'abort',
    })),
}

/** An open gateway without HTTP, with replies from memory. `backend` is its storage plugin. */
export const openGateway = (backend: Plugin): Promise<Gateway> =>
  new Gateway()
    .use(...foundation())
    .use(backend, chatCompletions, messages, ...detectors, sessions(), policy(), recorder(), answering)
    .open()

/** A storage backend that discards all rows and passes each batch to the callback. */
export const watchedStorage = (onBatch: (batch: readonly DriverChange[]) => void): Plugin =>
  storage({
    id: 'watched',
    open: async () => ({
      capabilities: { search: 'none', shared: false },
      state: 'ok',
      onState: () => () => {},
      get: async () => undefined,
      find: async () => ({ rows: [], positions: [], next: null, truncated: false }),
      sum: async () => [],
      write: async (batch) => {
        onBatch(batch)
        return true
      },
      remove: async () => 0,
      bytes: async () => 0,
      close: async () => {},
    }),
  })
