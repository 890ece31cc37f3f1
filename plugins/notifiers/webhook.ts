import { createHmac } from 'node:crypto'
import { plainSchema } from 'guard-gateway/core'
import {
  type HttpReceiver,
  httpReceiverSchema,
  httpTarget,
  type Notification,
  notifier,
} from 'guard-gateway/lib/notifier'

interface WebhookOptions extends HttpReceiver {
  readonly secret: string
  readonly previous_secret?: string
}

const PREFIX = 'whsec_'
/** What the standard allows, in bytes. */
const [MIN_BYTES, MAX_BYTES] = [24, 64]
const MS_PER_S = 1_000

const secret = { type: 'string', minLength: 1 }
const schema = plainSchema<WebhookOptions>({
  type: 'object',
  properties: { ...httpReceiverSchema, secret, previous_secret: secret },
  required: ['url', 'secret'],
  additionalProperties: false,
})

/**
 * Signed requests as https://www.standardwebhooks.com describes them, version 1.0.0, with symmetric signatures.
 * While `previous_secret` is set each request bears a signature by either, so that a receiver can change over.
 */
export const webhook = notifier({
  id: 'webhook',
  schema,
  secrets: ['url', 'secret', 'previous_secret'],
  connect(options, context) {
    const keys = [keyOf(options.secret, 'secret')]
    if (options.previous_secret !== undefined) keys.push(keyOf(options.previous_secret, 'previous_secret'))
    return httpTarget(options, context, (notification) => {
      const body = bodyOf(notification)
      // of the attempt, which the receiver compares with its own clock
      const timestamp = String(Math.floor(context.clock.now() / MS_PER_S))
      const signed = `${notification.id}.${timestamp}.${body}`
      const headers = {
        'webhook-id': notification.id,
        'webhook-timestamp': timestamp,
        'webhook-signature': keys.map((key) => `v1,${signatureOf(key, signed)}`).join(' '),
      }
      return { body, headers }
    })
  },
})

const signatureOf = (key: Buffer, signed: string): string => createHmac('sha256', key).update(signed).digest('base64')

const bodyOf = ({ event, at, id, subject, text, url, project_id, count }: Notification): string =>
  JSON.stringify({
    type: `guard.${event}`,
    timestamp: new Date(at).toISOString(),
    data: { id, event, subject, text, url, project_id, count },
  })

/** The bytes of a secret. The message never shows it. */
const keyOf = (text: string, name: string): Buffer => {
  const encoded = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : text
  const key = Buffer.from(encoded, 'base64')
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded) || key.length < MIN_BYTES || key.length > MAX_BYTES)
    throw new TypeError(
      `${name} is whsec_ and base64 of ${MIN_BYTES} to ${MAX_BYTES} random bytes: printf 'whsec_'; openssl rand -base64 32`,
    )
  return key
}
