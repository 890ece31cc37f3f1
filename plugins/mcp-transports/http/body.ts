import type { IncomingMessage } from 'node:http'
import { EventReader, type RawEvent, readFrame, type StreamEvent } from 'guard-gateway/core'

/** The essence of a response's content type. */
export const typeOf = (response: IncomingMessage): string =>
  (response.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''

/** The whole body; rejects if it is larger than `limit` bytes, breaks off, or is not there in time. */
export const bodyOf = (response: IncomingMessage, limit: number, timeout_ms: number): Promise<Buffer> =>
  // listeners, not iteration: that costs as much as all the rest of reading a small answer
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    const late = setTimeout(() => response.destroy(new Error('The answer did not end in time.')), timeout_ms)
    const over = () => clearTimeout(late)
    response.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length > limit) response.destroy(new RangeError(`The answer is larger than ${limit} bytes.`))
      else chunks.push(chunk)
    })
    response.on('end', () => {
      over()
      const [first] = chunks
      resolve(first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks, length))
    })
    response.on('error', (error) => {
      over()
      reject(error)
    })
    response.on('close', () => {
      over()
      reject(new Error('The answer broke off.'))
    })
  })

/** The messages of an event stream as they come; nothing is read ahead of who takes them. Throws where the stream breaks off. */
export async function* eventsOf(response: IncomingMessage, limit: number): AsyncGenerator<StreamEvent> {
  const ready: RawEvent[] = []
  const reader = new EventReader(limit, (event) => ready.push(event))
  for await (const chunk of response as AsyncIterable<Buffer>) {
    reader.push(chunk)
    for (const event of ready) yield streamEvent(event)
    ready.length = 0
  }
}

const streamEvent = ({ raw, data, identified }: RawEvent): StreamEvent => {
  const about = { raw, resumable: identified }
  if (data.length === 0) return about
  const frame = readFrame(data, 'server')
  return frame.kind === 'fault' ? { ...about, fault: frame } : { ...about, frame }
}
