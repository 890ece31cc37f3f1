import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { messageEvent } from 'guard-gateway/lib/sse'
import type { ClientResponse, OutgoingMessage } from '../relay/response.ts'
import type { ClientSession } from '../session/client-session.ts'

/** How long a call continues for its records after its client has disconnected. */
const DRAIN_MS = 300_000

/** An event as it came, or one that holds the message. */
export const eventBytes = ({ event, message }: OutgoingMessage): Buffer =>
  event ?? Buffer.from(messageEvent(typeof message === 'string' ? message : (message?.toString() ?? '')))

const isGone = (response: ServerResponse): boolean => response.destroyed || response.writableEnded

/** Writes the messages of a stream as they come; the server is made to wait while the client does not read. `resumable`: from the first event on. */
export const pump = async (
  response: ServerResponse,
  session: Pick<ClientSession['session'], 'use'>,
  { events, stop }: ClientResponse & { form: 'sse' },
  resumable = false,
): Promise<void> => {
  const leave = session.use()
  const gone = clientCloses(response, () => resumable, stop)
  try {
    for await (const out of events) {
      resumable ||= out.resumable === true
      if (isGone(response)) continue
      if (!response.write(eventBytes(out))) await Promise.race([once(response, 'drain'), gone.left])
    }
  } finally {
    gone.over()
    leave()
    response.end()
  }
}

/**
 * What happens when the client closes its connection: a stream that can be taken up again is let go,
 * any other is read to its end, so that the tool ends as it would and its outcome is known.
 */
const clientCloses = (response: ServerResponse, resumable: () => boolean, stop: () => void) => {
  let timer: NodeJS.Timeout | undefined
  const { promise: left, resolve } = Promise.withResolvers<void>()
  const onClose = () => {
    resolve()
    if (resumable()) stop()
    else timer = setTimeout(stop, DRAIN_MS).unref()
  }
  if (response.destroyed) onClose()
  else response.once('close', onClose)
  const over = () => {
    clearTimeout(timer)
    response.off('close', onClose)
  }
  return { left, over }
}
