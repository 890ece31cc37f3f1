import type { IncomingMessage } from 'node:http'
import type { Gateway, Secrets } from 'guard-gateway/core'
import { type Received, receive } from './received.ts'

/** What a connection's last request said of itself. */
interface Said {
  readonly texts: readonly (string | undefined)[]
  readonly shown: number
  readonly secrets: Secrets
  /** How many secrets were looked for. */
  readonly count: number
  readonly received: Received
}

const last = new WeakMap<object, Said>()

/** What `receive` makes of a request's headers, in one and the same object as long as a connection's requests say the same of themselves. */
export const receiveAgain = (
  gateway: Gateway,
  { socket, rawHeaders }: Pick<IncomingMessage, 'socket' | 'rawHeaders'>,
  shown: number,
): Received => {
  const said = last.get(socket)
  if (said !== undefined && says(said, gateway, rawHeaders, shown)) return said.received
  const received = receive(gateway, rawHeaders, shown)
  const { headers, raw, texts } = received
  if (texts === undefined) return received
  Object.freeze(headers)
  Object.freeze(raw)
  const { secrets } = gateway
  last.set(socket, { texts, shown, secrets, count: secrets.count, received })
  return received
}

const says = (said: Said, { secrets }: Gateway, rawHeaders: readonly string[], shown: number): boolean => {
  const { texts } = said
  if (said.secrets !== secrets || said.count !== secrets.count) return false
  if (said.shown !== shown || texts.length !== rawHeaders.length) return false
  for (let index = 0; index < texts.length; index++)
    if (rawHeaders[index] !== texts[index] && texts[index] !== undefined) return false
  return true
}
