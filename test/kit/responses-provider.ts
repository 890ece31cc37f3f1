import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface StoredReply {
  readonly id: string
  readonly model: string
  status: 'queued' | 'in_progress' | 'completed' | 'cancelled' | 'failed'
  /** Retrievals until it is completed. */
  left: number
}

interface Asked {
  readonly method: string
  readonly url: URL
  readonly body: Readonly<Record<string, unknown>>
  readonly id: string
  /** What follows the id in the path. */
  readonly rest: string
}

type Answer =
  | { readonly status: number; readonly body: object }
  | { readonly events: readonly { readonly type: string }[] }

/** A provider of the Responses API that keeps responses and conversations. */
export interface ResponsesProvider {
  readonly url: string
  /** `GET /v1/responses/resp_1`, in order. */
  readonly requests: readonly string[]
  close(): Promise<void>
}

export const USAGE = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 40, cache_write_tokens: 0 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 5 },
  total_tokens: 120,
}

/** `polls`: retrievals until a background response is completed; `name`: stands in the ids. */
export const responsesProvider = async ({ polls = 2, name = 'a', fails = false } = {}): Promise<ResponsesProvider> => {
  const kept = new Map<string, StoredReply>()
  const requests: string[] = []
  let made = 0

  const shown = (reply: StoredReply): object => ({
    id: reply.id,
    object: 'response',
    created_at: 1_772_366_400,
    status: reply.status,
    background: true,
    model: reply.model,
    error: reply.status === 'failed' ? { code: 'server_error', message: 'It broke.' } : null,
    incomplete_details: null,
    output: reply.status === 'completed' ? [message(reply)] : [],
    usage: ['completed', 'failed'].includes(reply.status) ? USAGE : null,
  })

  const step = (reply: StoredReply): StoredReply => {
    if (reply.status !== 'queued' && reply.status !== 'in_progress') return reply
    reply.left--
    reply.status = reply.left > 0 ? 'in_progress' : fails ? 'failed' : 'completed'
    return reply
  }

  const create = ({ body }: Asked): Answer => {
    const id = `resp_${name}${++made}`
    const status = body.background === true ? 'queued' : 'completed'
    const reply: StoredReply = { id, model: String(body.model), status, left: polls }
    kept.set(id, reply)
    if (body.stream !== true) return whole(shown(reply))
    // the connection of a background stream may break; the response goes on
    return { events: ['response.created', 'response.queued'].map((type) => ({ type, response: shown(reply) })) }
  }

  const retrieve = (reply: StoredReply, isStream: boolean): Answer => {
    if (!isStream) return whole(shown(step(reply)))
    const running = { type: 'response.in_progress', response: shown(reply) }
    reply.status = 'completed'
    return { events: [running, { type: 'response.completed', response: shown(reply) }] }
  }

  const cancel = (reply: StoredReply): Answer => {
    reply.status = 'cancelled'
    return whole(shown(reply))
  }

  const remove = ({ id }: StoredReply): Answer => {
    kept.delete(id)
    return whole({ id, object: 'response', deleted: true })
  }

  const about = (reply: StoredReply, { method, url, rest }: Asked): Answer => {
    if (method === 'DELETE') return remove(reply)
    if (rest === '/cancel') return cancel(reply)
    if (rest === '/input_items') return whole({ object: 'list', data: [], has_more: false })
    return retrieve(reply, url.searchParams.get('stream') === 'true')
  }

  const fixed: Readonly<Record<string, (asked: Asked) => Answer>> = {
    '/v1/responses': create,
    '/v1/responses/input_tokens': () => whole({ object: 'response.input_tokens', input_tokens: 11 }),
    '/v1/responses/compact': () =>
      whole({
        id: `resp_compacted_${requests.length}`,
        object: 'response.compaction',
        created_at: 1_772_366_400,
        output: [{ type: 'compaction', id: 'cmp_1', encrypted_content: 'opaque' }],
        usage: USAGE,
      }),
  }

  const answer = (asked: Asked): Answer => {
    const { pathname } = asked.url
    if (pathname.startsWith('/v1/conversations')) return whole({ id: 'conv_1', object: 'conversation', data: [] })
    const reply = kept.get(asked.id)
    return fixed[pathname]?.(asked) ?? (reply === undefined ? NOT_FOUND : about(reply, asked))
  }

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = 'GET', url: target = '/' } = request
    requests.push(`${method} ${target}`)
    let text = ''
    for await (const chunk of request) text += chunk
    const url = new URL(target, 'http://provider')
    const [, id = '', rest = ''] = /^\/v1\/responses\/([^/]+)(\/.*)?$/.exec(url.pathname) ?? []
    send(response, answer({ method, url, body: text === '' ? {} : JSON.parse(text), id, rest }))
  }

  const server = createServer((request, response) => void serve(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const message = ({ id }: StoredReply): object => ({
  id: `msg_${id}`,
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Done.', annotations: [] }],
})

const whole = (body: object): Answer => ({ status: 200, body })

const NOT_FOUND: Answer = { status: 404, body: { error: { message: 'not found', type: 'invalid_request_error' } } }

const send = (response: ServerResponse, answer: Answer): void => {
  if (!('events' in answer)) {
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const data of answer.events) response.write(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`)
  response.end()
}
