import type { Call, Outcome } from '../call.ts'
import { timeSince } from '../clock.ts'
import type { Client, Reply } from '../contracts/reply.ts'
import type { Decision } from '../decision.ts'
import type { Gateway } from '../gateway.ts'
import type { Reading } from '../settled.ts'
import { headerOf, isEventStream, type Relayed, relay } from './relay.ts'
import { watched } from './reply-tap.ts'
import { unread } from './tap.ts'

/** A reply that is to be passed on. */
interface Passing {
  readonly call: Call
  readonly decision: Decision
  readonly client: Client
  readonly reply: Reply
  /** The reply's and our own: name, value, name, value … */
  readonly headers: readonly string[]
}

/** How a reply was passed on. */
export interface Passed {
  readonly outcome: Outcome
  readonly reading: Reading
  readonly relayed: Relayed
}

/** Sends a reply to the client as it comes, all but its end. Throws where it cannot be sent. */
export const passOn = async (
  gateway: Gateway,
  { call, decision, client, reply, headers }: Passing,
): Promise<Passed> => {
  client.head(reply.status, headers, headerOf(reply.headers, 'content-length') === undefined)
  const stream = isEventStream(reply, call.envelope.stream)
  const about = { status: reply.status, stream, encoding: headerOf(reply.headers, 'content-encoding') }
  const { tap, ending } = watched(gateway.apiStyles.need(call.style), about, decision.watch, gateway.fault)
  const keep = gateway.service('previews').get()?.[stream ? 'stream' : 'whole'] ?? 0
  const now = (): number => timeSince(gateway.clock, call)
  const passed = relay(reply, client, tap, now, keep, stream && isOpenEnded(reply) ? ending : undefined)
  const relayed = passed instanceof Promise ? await passed : passed
  const read = tap.end()
  const reading = read instanceof Promise ? await read : read
  return { outcome: outcomeOf(reply.status, stream, relayed, reading, client), reading, relayed }
}

export const gone = (client: Client): Outcome => (client.interrupted ? 'interrupted' : 'client_aborted')

const outcomeOf = (status: number, stream: boolean, relayed: Relayed, reading: Reading, client: Client): Outcome => {
  // many clients leave at the last event, before the end of the reply that stands behind it
  const hasAll = stream && reading.complete && !relayed.missed && !client.interrupted
  if (relayed.ended === 'gone' && !hasAll) return gone(client)
  if (relayed.ended === 'cut') return 'truncated'
  if (relayed.ended === 'stopped') return 'interrupted'
  if (status >= 400 || reading.error !== null) return 'upstream_error'
  return stream && !reading.complete && reading !== unread ? 'truncated' : 'ok'
}

/** Plain text of no announced length: it may end anywhere between events. */
const isOpenEnded = ({ headers }: Reply): boolean =>
  headerOf(headers, 'content-length') === undefined &&
  (headerOf(headers, 'content-encoding') ?? 'identity') === 'identity'
