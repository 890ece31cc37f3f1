import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import {
  type ApiStyle,
  type Call,
  errorOrigin,
  type Gateway,
  GuardError,
  type Identity,
  Kind,
  noteErrorOrigin,
  type OutboundHead,
  type ProxyRequest,
  type Redactor,
  type ReplyHead,
  type Secrets,
} from 'guard-gateway/core'
import { isId, storedId } from '#lib/ids'
import { EditableHead } from './http/message-head.ts'

export { ConcurrencyLimit } from './http/concurrency-limit.ts'

export { checkEncoding, inflated, isZlibStream, withInflated } from './http/inflate.ts'

/** Errors of refused requests, by Node's request object, for the log. */
export const requestErrors = new WeakMap<object, GuardError>()

/**
 * The client's own provider credentials (name, value, name, value …), by the request they came with: a call or a proxied request.
 * They are not on the request, so that no hook sees them; an upstream with `auth: passthrough` reads them here.
 * No key of the gateway is ever among them.
 */
export const clientCredentials = new WeakMap<object, readonly string[]>()

const MEDIA_TYPE = /^\s*([!#$%&'*+.^_`|~0-9a-z-]+\/[!#$%&'*+.^_`|~0-9a-z-]+)\s*(?:;(.*))?$/i
const CHARSET = /(?:^|;)\s*charset\s*=\s*"?([^";\s]*)"?/i

/** The essence of a content type in lower case, without parameters; undefined if it is malformed or of another charset than UTF-8. */
export const mediaType = (contentType: string): string | undefined => {
  const [, type, parameters = ''] = MEDIA_TYPE.exec(contentType) ?? []
  const charset = CHARSET.exec(parameters)?.[1]?.toLowerCase()
  return charset === undefined || charset === 'utf-8' || charset === 'utf8' ? type?.toLowerCase() : undefined
}

/** Takes a body of no bytes for none whatever type it claims, as `curl -d ''` does; throws UNSUPPORTED_MEDIA_TYPE for any other that no parser takes. */
export const acceptNoBody = (app: FastifyInstance): void => {
  app.addContentTypeParser('*', (request, _payload, done) => {
    if (request.headers['content-length'] === '0') done(null, undefined)
    else done(new GuardError('UNSUPPORTED_MEDIA_TYPE'))
  })
}

const IDENTITY = Symbol('identity')

interface IdentifiedRequest {
  [IDENTITY]?: Identity
}

/** Whose key a request had, by Node's request object; set when the key is checked. It is a property of the request, which costs less than a weak map. */
export const requestIdentities = {
  get: (request: object): Identity | undefined => (request as IdentifiedRequest)[IDENTITY],
  set: (request: object, identity: Identity): void => {
    ;(request as IdentifiedRequest)[IDENTITY] = identity
  },
}

/** Shorter texts hold no agent key, in whatever coding. */
const MIN_LENGTH = 47
const BASIC = /^basic\s+([A-Za-z0-9+/_=-]+)$/i

/** A header's value is or holds a key of this gateway, a configured secret or any agent key: bare, after a scheme, percent-encoded or in Basic. */
export const holdsOwnKey = (secrets: Secrets, value: string): boolean =>
  secrets.holds(value) || (value.length >= MIN_LENGTH && holdsAgentKey(value))

const holdsAgentKey = (value: string): boolean => {
  if (AGENT_KEY.test(value)) return true
  if (value.includes('%') && AGENT_KEY.test(unescaped(value))) return true
  const coded = BASIC.exec(value)?.[1]
  return coded !== undefined && AGENT_KEY.test(Buffer.from(coded, 'base64').toString('latin1'))
}

const unescaped = (text: string): string =>
  text.replace(/%([0-9a-f]{2})/gi, (_all, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))

/** A model request in flight. */
export interface InFlightClient {
  /** What it asked for, once that is read. */
  readonly call: Call | undefined
  /** The status that was sent; 0 before that. */
  readonly status: number
  /** Bytes of the reply handed over. */
  readonly bytes: number
  /** Its index among the requests in flight. */
  index: number
  /** Bytes of its body that count as held. */
  held: number
  /** Ends the exchange from our side; it is recorded as interrupted. */
  interrupt(): void
}

/** A message that is a model request of its own. */
export interface SocketCall {
  readonly style: ApiStyle
  readonly body: Buffer
  /** What the call has besides. */
  readonly more: Partial<Pick<Call, 'stream_id' | 'uncounted' | 'mode_override'>>
}

/** A handshake for a WebSocket that was admitted. */
export interface SocketUpgrade {
  /** `guardreq_…` */
  readonly id: string
  readonly request: IncomingMessage
  readonly socket: Duplex
  /** What has come after the handshake already. */
  readonly head: Buffer
  /** The handshake as a request that goes up, without credentials. */
  readonly proxied: ProxyRequest
  /** The client's own credentials, in the same form; no key of the gateway. */
  readonly login: readonly string[]
  /** Answers with an error of ours and ends the connection. */
  refuse(error: GuardError): void
  /** Answers as an upstream did and ends the connection. */
  respond(status: number, headers: readonly string[], body: Buffer): void
  /** 101 is about to be answered: from now on neither of the two above does anything. */
  accepted(): void
  /** The gateway drains: no new work begins. */
  readonly draining: boolean
  /**
   * Counts a request as in flight; `end` follows in any case. Its key is looked at again: throws or rejects with UNAUTHORIZED where it was
   * revoked, OVERLOADED, SHUTTING_DOWN.
   */
  begin(client: InFlightClient, bytes: number): void | Promise<void>
  /** Counts one that is under way already, whatever may be said against it. */
  beginUnasked(client: InFlightClient): void
  end(client: InFlightClient): void
  /** Makes the call of a message, in the name of the handshake. Throws INVALID_BODY, INVALID_HEADER, PROJECT_NOT_ALLOWED. */
  callOf(message: SocketCall): Call | Promise<Call>
  /** The status that this client is told instead of a block's. */
  blockStatus(status: number): number
}

/** What serves WebSockets at some paths. */
export interface SocketRoute {
  readonly id: string
  /** Canonical paths. */
  readonly paths: readonly string[]
  /** Takes a handshake over; what it throws before it has answered is answered. */
  open(upgrade: SocketUpgrade): void | Promise<void>
}

export const socketRouteKind = new Kind<SocketRoute>('socket route', { paths: 'list', open: 'function' })

const MAX_SPELLINGS = 1_024
const MAX_LENGTH = 64

/**
 * Caches a function of header names by spelling: the result takes the name as sent, `tell` gets it in lower case.
 * What is remembered is bounded, since names come from outside.
 */
export const byHeaderName = <T extends string | number | boolean | null>(
  tell: (lower: string) => T,
): ((spelled: string) => T) => {
  const known = new Map<string, T>()
  return (spelled) => {
    const found = known.get(spelled)
    if (found !== undefined) return found
    const result = tell(spelled.toLowerCase())
    if (spelled.length <= MAX_LENGTH) {
      if (known.size >= MAX_SPELLINGS) known.clear()
      known.set(spelled, result)
    }
    return result
  }
}

const BEYOND_ASCII = /[\x80-\xff]/

/** The text that the value of a header means. Node gives a character a byte; bytes that are UTF-8 are read as that. */
export const headerText = (value: string): string => {
  if (!BEYOND_ASCII.test(value)) return value
  const bytes = Buffer.from(value, 'latin1')
  return isUtf8(bytes) ? bytes.toString() : value
}

const credentials = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'cookie2',
  'x-api-key',
  'x-guard-key',
  'api-key',
  'apikey',
  'x-goog-api-key',
  'x-auth-token',
  'x-access-token',
])
const CREDENTIAL_ENDING = /[-_](?:api[-_]key|access[-_]token|auth[-_]token|secret|password)$/

/** A header of this name (in lower case) carries a credential, whatever its value. */
export const isCredentialName = (lower: string): boolean => credentials.has(lower) || CREDENTIAL_ENDING.test(lower)

/** The form of agent keys: nothing else looks like it, so it is recognised without knowing the keys. */
export const AGENT_KEY = /gak_[A-Za-z0-9_-]{43}/

/** The project that the header of a request names for the records in it; undefined without one. Throws INVALID_HEADER. */
export const projectHeader = (
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  redact: Pick<Redactor, 'judgeId'>,
): string | undefined => {
  const project = headers['x-guard-project-id']
  if (project === undefined || project === '') return undefined
  const stored = isId(project) && project !== '.' && project !== '..' ? storedId(project, redact) : undefined
  if (stored !== undefined) return stored
  throw new GuardError(
    'INVALID_HEADER',
    'The header x-guard-project-id cannot be used. Send 1 to 128 letters, digits or . _ : @ / + = - that hold no credential and are not "." or "..".',
    { path: 'x-guard-project-id' },
  )
}

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
