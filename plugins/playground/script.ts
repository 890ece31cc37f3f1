import { Readable } from 'node:stream'
import { GuardError, type Reply } from 'guard-gateway/core'
import { PLAYGROUND_UPSTREAM } from '#lib/trace'
import type { Dialect } from './dialects/dialect.ts'
import { dialectOf } from './dialects/index.ts'
import type { Answer, RequestStep, ScriptedText } from './scenario.ts'

/** A request step in one API style: what the client sends, and what it gets if that is forwarded. */
export interface Script {
  readonly request: Buffer
  readonly reply: Reply
}

/** Writes a step as its style's client and provider would. `id` makes the reply's ids its own. Throws UNKNOWN for a style without a dialect. */
export const scriptOf = (style: string, id: string, { say, reply }: Pick<RequestStep, 'say' | 'reply'>): Script => {
  const dialect = dialectOf(style)
  if (dialect === undefined)
    throw new GuardError('UNKNOWN', `The Playground cannot write requests in the API style "${style}".`)
  if ('error_type' in reply)
    return { request: requestOf(dialect, say, false), reply: whole(reply.status, dialect.error(reply)) }
  if (reply.stream !== true)
    return { request: requestOf(dialect, say, false), reply: whole(200, dialect.reply(id, reply)) }
  return { request: requestOf(dialect, say, true), reply: streamed(dialect, id, reply) }
}

const requestOf = (dialect: Dialect, say: readonly ScriptedText[], stream: boolean): Buffer =>
  Buffer.from(JSON.stringify(dialect.request(say, stream)))

const origin = { upstream: PLAYGROUND_UPSTREAM, upstream_request_id: null, on_disconnect: 'abort' } as const

const whole = (status: number, body: object): Reply => {
  const bytes = Buffer.from(JSON.stringify(body))
  return {
    ...origin,
    status,
    headers: ['content-type', 'application/json', 'content-length', String(bytes.length)],
    body: bytes,
    attempts: [{ upstream: PLAYGROUND_UPSTREAM, status, error: null }],
  }
}

const streamed = (dialect: Dialect, id: string, answer: Answer): Reply => {
  const events = dialect.events(id, answer)
  return {
    ...origin,
    status: 200,
    headers: ['content-type', 'text/event-stream; charset=utf-8', 'cache-control', 'no-cache'],
    body: streamOf(events.slice(0, answer.cut_after), answer.cut_after !== undefined),
    attempts: [{ upstream: PLAYGROUND_UPSTREAM, status: 200, error: null }],
  }
}

/** A stream of one chunk an event, which ends properly or breaks off after the last one. */
const streamOf = (events: readonly string[], breaks: boolean): Readable => {
  let next = 0
  return new Readable({
    highWaterMark: 1,
    read() {
      const event = events[next++]
      if (event !== undefined) this.push(Buffer.from(event))
      else if (!breaks) this.push(null)
      // what was pushed before goes out first: an error overtakes everything that still waits to be read
      else setImmediate(() => this.destroy(new Error('The scripted stream breaks off.')))
    },
  })
}
