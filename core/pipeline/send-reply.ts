import type { Call, Outcome, ProviderObject } from '../call.ts'
import { timeSince } from '../clock.ts'
import type { ApiStyle, Meter, ReplyAbout } from '../contracts/api-style.ts'
import type { Client, Reply } from '../contracts/reply.ts'
import type { Decision } from '../decision.ts'
import type { Gateway } from '../gateway.ts'
import type { Reading } from '../settled.ts'
import { type EarlyEnd, headerOf, isEventStream, type RelayResult, relay } from './relay.ts'
import { createTap, type Tap, unreadable } from './tap.ts'

/** A reply for the client. */
interface ReplyToSend {
  readonly call: Call
  readonly decision: Decision
  readonly client: Client
  readonly reply: Reply
  /** The reply's and our own: name, value, name, value … */
  readonly headers: readonly string[]
}

/** How the sending of a reply ended. */
export interface SentReply {
  readonly outcome: Outcome
  readonly reading: Reading
  readonly relayed: RelayResult
}

/** Sends a reply to the client as it arrives, all but its end. Throws if its head cannot be sent. */
export const sendReply = async (
  gateway: Gateway,
  { call, decision, client, reply, headers }: ReplyToSend,
): Promise<SentReply> => {
  client.head(reply.status, headers, headerOf(reply.headers, 'content-length') === undefined)
  const style = gateway.apiStyles.need(call.style)
  const stream = isEventStream(reply, call.envelope.stream, style.json_stream)
  const { upstream } = reply
  const named = (object: ProviderObject): void => gateway.hooks.named.call({ ...object, upstream }, call)
  const about = { status: reply.status, stream, named, encoding: headerOf(reply.headers, 'content-encoding') }
  const { tap, ending } = createReplyTap(style, about, decision.watch, gateway.fault)
  const keep = gateway.service('previews').get()?.[stream ? 'stream' : 'whole'] ?? 0
  const now = (): number => timeSince(gateway.clock, call)
  const relaying = relay(reply, client, tap, now, keep, stream && isOpenEnded(reply) ? ending : undefined)
  const relayed = relaying instanceof Promise ? await relaying : relaying
  const read = tap.end()
  const reading = read instanceof Promise ? await read : read
  return { outcome: outcomeOf(reply.status, stream, relayed, reading, client), reading, relayed }
}

export const goneOutcome = (client: Client): Outcome => (client.interrupted ? 'interrupted' : 'client_aborted')

const outcomeOf = (status: number, stream: boolean, sent: RelayResult, reading: Reading, client: Client): Outcome => {
  // many clients disconnect after the last event, before the reply ends
  const hasAll = stream && reading.complete && !sent.missed && !client.interrupted
  if (sent.ended === 'client_gone' && !hasAll) return goneOutcome(client)
  if (sent.ended === 'truncated') return 'truncated'
  if (sent.ended === 'stopped') return 'interrupted'
  if (status >= 400 || reading.error !== null) return 'upstream_error'
  return stream && !reading.complete && reading !== unreadable ? 'truncated' : 'ok'
}

/** Plain text of no announced length: it may end anywhere between events. */
const isOpenEnded = ({ headers }: Reply): boolean =>
  headerOf(headers, 'content-length') === undefined &&
  (headerOf(headers, 'content-encoding') ?? 'identity') === 'identity'

type Fault = (error: unknown, where: string) => void

/** The meter of a reply, and what may end the reply early. */
interface ReplyTap {
  readonly tap: Tap
  readonly ending: EarlyEnd | undefined
}

/** Creates the tap of a reply. If a style throws, `fault` reports it, and the reply passes without meter or listener. */
const createReplyTap = (
  style: ApiStyle,
  about: ReplyAbout & { readonly encoding: string | undefined },
  watch: Decision['watch'],
  fault: Fault,
): ReplyTap => {
  const { stream, encoding } = about
  const attempt = <T>(where: string, work: () => T): T | undefined => {
    try {
      return work()
    } catch (error) {
      fault(error, where)
    }
  }
  const metering = `meter:${style.id}`
  const listening = `listen:${style.id}`
  const meter = attempt(metering, () => needed(style.meter(about))) ?? blind
  const listened =
    watch === undefined
      ? undefined
      : attempt(listening, () =>
          style.listen?.({ meter, stream, listener: watch, fault: (error) => fault(error, listening) }),
        )
  const ending = watch === undefined || listened === undefined ? undefined : { listener: watch, listened }
  return { tap: createTap(listened?.meter ?? meter, encoding, (error) => fault(error, metering)), ending }
}

const needed = (meter: Meter | undefined): Meter => {
  if (meter === undefined || meter === null)
    throw new TypeError('a style gives a meter for each reply; this one gave none')
  return meter
}

/** In place of a meter that could not be made. */
const blind: Meter = {
  push() {},
  end: () => unreadable,
}
