import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'

/** How a request is answered: with an error, or with an event stream, of which `isCut` sends half. */
export type SocketReply =
  | { readonly status: number; readonly body: string }
  | { readonly events: string; readonly isCut: boolean }

/** What a provider makes of a request that came over a WebSocket; `said` holds all texts of its connection. */
export type AnswerRequest = (text: string, said: string) => SocketReply

let responses = 0

/** Lets a server take WebSockets, each for one conversation. `opened` is called for each. */
export const serveSockets = (server: Server, opened: () => void, answer: AnswerRequest): void => {
  const upgrades = new WebSocketServer({ noServer: true, perMessageDeflate: true })
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) =>
    upgrades.handleUpgrade(request, socket, head, (accepted) => {
      opened()
      converse(accepted, answer)
    }),
  )
}

interface Create {
  readonly type: string
  readonly generate?: boolean
  readonly model?: string
}

const converse = (socket: WebSocket, answer: AnswerRequest): void => {
  let said = ''
  socket.on('error', () => {})
  socket.on('message', (data) => {
    const text = String(data)
    const create = JSON.parse(text) as Create
    if (create.type !== 'response.create') return
    said += text
    responses++
    const id = `resp_socket_${responses}`
    if (create.generate === false) warmUp(socket, id, create)
    else respond(socket, id, answer(text, said))
  })
}

const send = (socket: WebSocket, event: object): void => socket.send(JSON.stringify(event))

/** Nothing is generated: there is an id that the next request names. */
const warmUp = (socket: WebSocket, id: string, { model }: Create): void => {
  const response = { id, object: 'response', model, output: [] }
  send(socket, { type: 'response.created', response: { ...response, status: 'in_progress' } })
  const usage = { input_tokens: 9_000, output_tokens: 0, total_tokens: 9_000 }
  send(socket, { type: 'response.completed', response: { ...response, status: 'completed', usage } })
}

const respond = (socket: WebSocket, id: string, reply: SocketReply): void => {
  if ('status' in reply) {
    const { error } = JSON.parse(reply.body) as { error: object }
    send(socket, { type: 'error', status: reply.status, error })
    return
  }
  const events = eventsOf(reply.events).map((event) => withId(event, id))
  for (const event of reply.isCut ? events.slice(0, events.length / 2) : events) send(socket, event)
  if (reply.isCut) socket.terminate()
}

interface Event {
  readonly type: string
  readonly response?: object
  readonly item?: object
}

/** Some clients read of an item only once it was added. */
const eventsOf = (stream: string): readonly Event[] => {
  const events = [...stream.matchAll(/^data: (\{.*)$/gm)].map(([, data = '']) => JSON.parse(data) as Event)
  const item = events.find(({ type }) => type === 'response.output_item.done')?.item ?? {}
  const place = { output_index: 0, item_id: Reflect.get(item, 'id'), content_index: 0 }
  const [created, ...rest] = events.map((event) => ({ ...place, ...event }))
  const added = { ...place, type: 'response.output_item.added', item: { ...item, content: [], arguments: '' } }
  return created === undefined ? [] : [created, added, ...rest]
}

/** Each response has an id of its own, since the next request names it. */
const withId = (event: Event, id: string): Event =>
  event.response === undefined ? event : { ...event, response: { ...event.response, id } }
