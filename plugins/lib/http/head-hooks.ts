import {
  type Call,
  errorOrigin,
  type Gateway,
  GuardError,
  noteErrorOrigin,
  type OutboundHead,
  type ProxyRequest,
  type ReplyHead,
} from 'guard-gateway/core'
import { EditableHead } from './message-head.ts'

const LIMIT_MS = 10_000

type Hooked = Pick<Gateway, 'hooks' | 'deadlines'>

/** What is sent to an upstream, without the methods that change its headers. */
export type OutboundMessage = Pick<OutboundHead, 'upstream' | 'method' | 'url' | 'headers' | 'body'>

class EditableOutboundHead extends EditableHead implements OutboundHead {
  readonly upstream: string
  readonly method: string
  readonly url: string
  readonly body: Uint8Array | undefined

  constructor({ upstream, method, url, headers, body }: OutboundMessage) {
    super(headers)
    this.upstream = upstream
    this.method = method
    this.url = url
    this.body = body
    Object.freeze(this)
  }
}

class EditableReplyHead extends EditableHead implements ReplyHead {
  readonly status: number

  constructor(status: number, headers: readonly string[]) {
    super(headers)
    this.status = status
    Object.freeze(this)
  }
}

/** Some plugin changes heads of requests to upstreams. */
export const tapsOutbound = ({ hooks }: Pick<Gateway, 'hooks'>): boolean => hooks.outbound.taps.length > 0

/** Some plugin changes heads of replies. */
export const tapsReply = ({ hooks }: Pick<Gateway, 'hooks'>): boolean => hooks.reply.taps.length > 0

/**
 * The headers of one try at an upstream, after all taps of `outbound`: name, value, name, value …
 * Rejects with the GuardError of a tap, else with INTERNAL, whose cause and origin are the tap's: nothing is sent then.
 */
export const outboundHeaders = async (
  { hooks, deadlines }: Hooked,
  message: OutboundMessage,
  request: Call | ProxyRequest,
): Promise<readonly string[]> => {
  const head = new EditableOutboundHead(message)
  try {
    await deadlines.withDeadline<void>(LIMIT_MS, 'outbound', request, (done) =>
      hooks.outbound.callAsync(head, request, done),
    )
    return head.seal()
  } catch (cause) {
    head.seal()
    if (cause instanceof GuardError) throw cause
    const error = new GuardError('INTERNAL', undefined, { cause })
    noteErrorOrigin(error, errorOrigin(cause) ?? 'outbound')
    throw error
  }
}

/** The headers of a reply, after all taps of `reply`. A tap that throws is reported, and the others run. */
export const replyHeaders = (
  { hooks }: Pick<Gateway, 'hooks'>,
  status: number,
  headers: readonly string[],
  request: Call | ProxyRequest | undefined,
): readonly string[] => {
  const head = new EditableReplyHead(status, headers)
  hooks.reply.call(head, request)
  return head.seal()
}
