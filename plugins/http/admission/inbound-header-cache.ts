import type { IncomingMessage } from 'node:http'
import type { Gateway, Secrets } from 'guard-gateway/core'
import { type InboundHeaders, readInboundHeaders } from './inbound-headers.ts'

/** The headers of a connection's last request. */
interface CacheEntry {
  readonly texts: readonly (string | undefined)[]
  readonly shown: number
  readonly secrets: Secrets
  /** How many secrets were looked for. */
  readonly count: number
  readonly received: InboundHeaders
}

const last = new WeakMap<object, CacheEntry>()

/** `readInboundHeaders`, which gives the same frozen object again while the requests of a connection repeat their headers. */
export const cachedInboundHeaders = (
  gateway: Gateway,
  { socket, rawHeaders }: Pick<IncomingMessage, 'socket' | 'rawHeaders'>,
  shown: number,
): InboundHeaders => {
  const cached = last.get(socket)
  if (cached !== undefined && isSame(cached, gateway, rawHeaders, shown)) return cached.received
  const received = readInboundHeaders(gateway, rawHeaders, shown)
  const { headers, raw, texts } = received
  if (texts === undefined) return received
  Object.freeze(headers)
  Object.freeze(raw)
  const { secrets } = gateway
  last.set(socket, { texts, shown, secrets, count: secrets.count, received })
  return received
}

const isSame = (cached: CacheEntry, { secrets }: Gateway, rawHeaders: readonly string[], shown: number): boolean => {
  const { texts } = cached
  if (cached.secrets !== secrets || cached.count !== secrets.count) return false
  if (cached.shown !== shown || texts.length !== rawHeaders.length) return false
  for (let index = 0; index < texts.length; index++)
    if (rawHeaders[index] !== texts[index] && texts[index] !== undefined) return false
  return true
}
