import { plainSchema } from 'guard-gateway/core'
import {
  type HttpReceiver,
  httpReceiverSchema,
  httpTarget,
  type Notification,
  notifier,
} from 'guard-gateway/lib/notifier'

interface NtfyOptions extends HttpReceiver {
  readonly token?: string
  readonly priority?: number
}

const schema = plainSchema<NtfyOptions>({
  type: 'object',
  properties: {
    ...httpReceiverSchema,
    token: { type: 'string', minLength: 1 },
    priority: { type: 'integer', minimum: 1, maximum: 5 },
  },
  required: ['url'],
  additionalProperties: false,
})

const DEFAULT_PRIORITY = 3

/**
 * Publishes to a topic of ntfy.sh or of a server of one's own; `url` is that of the topic: https://ntfy.sh/my-topic.
 * It publishes as JSON: what the message says never stands in a header.
 */
export const ntfy = notifier({
  id: 'ntfy',
  schema,
  secrets: ['url', 'token'],
  connect(options, context) {
    const { token, priority = DEFAULT_PRIORITY } = options
    if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) throw new TypeError('token cannot be sent in a header')
    const { topic, path } = topicOf(options.url)
    const headers: Readonly<Record<string, string>> = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const request = (notification: Notification) => ({
      body: JSON.stringify({ ...messageOf(notification), topic, priority }),
      headers,
    })
    return httpTarget(options, context, request, path)
  },
})

const messageOf = ({ event, text, url }: Notification): object => ({
  title: `Guard: ${event.replaceAll('_', ' ')}`,
  message: text,
  ...(url === '' ? {} : { click: url }),
})

/** The topic is the last part of the path; the rest of it is where messages are published. */
const topicOf = (text: string): { readonly topic: string; readonly path: string } => {
  const [, path = '/', topic = ''] = /^(.*\/)([^/]*)$/.exec(URL.parse(text)?.pathname ?? '') ?? []
  if (!/^[-_A-Za-z0-9]{1,64}$/.test(topic))
    throw new TypeError('url ends with the name of a topic, at most 64 of A-Z a-z 0-9 _ -: https://ntfy.sh/my-topic')
  return { topic, path }
}
