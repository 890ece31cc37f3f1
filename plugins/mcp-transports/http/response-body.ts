import { readFrame } from 'guard-gateway/lib/json-rpc'
import type { StreamEvent } from 'guard-gateway/lib/mcp-transport'
import { EventReader, type RawEvent } from 'guard-gateway/lib/sse'
import { ChunkQueue } from './chunk-queue.ts'

/** The whole body, at once where it is there; throws or rejects if it is larger than `limit` bytes, breaks off, or is not there in time. */
export const bodyOf = (body: Buffer | ChunkQueue, limit: number, timeout_ms: number): Buffer | Promise<Buffer> => {
  if (body instanceof ChunkQueue) return gathered(body, limit, timeout_ms)
  checkSize(body.length, limit)
  return body
}

const gathered = async (body: ChunkQueue, limit: number, timeout_ms: number): Promise<Buffer> => {
  const late = setTimeout(() => body.stop(new Error('The answer did not end in time.')), timeout_ms)
  const taken: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of body.read()) {
      length += chunk.length
      checkSize(length, limit)
      taken.push(chunk)
    }
  } finally {
    clearTimeout(late)
  }
  return Buffer.concat(taken, length)
}

const checkSize = (length: number, limit: number): void => {
  if (length > limit) throw new RangeError(`The answer is larger than ${limit} bytes.`)
}

/** The messages of an event stream that is there to its end. Throws RangeError for one of more than `limit` bytes. */
export const eventsIn = (body: Buffer, limit: number): readonly StreamEvent[] => {
  const events: StreamEvent[] = []
  new EventReader(limit, (event) => events.push(streamEvent(event))).push(body)
  return events
}

/** The messages of an event stream as they come; nothing is read far ahead of who takes them. Throws where the stream breaks off. */
export async function* eventsOf(
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
  limit: number,
): AsyncGenerator<StreamEvent> {
  const ready: RawEvent[] = []
  const reader = new EventReader(limit, (event) => ready.push(event))
  for await (const chunk of chunks) {
    const fault = faultOf(() => reader.push(chunk))
    for (const event of ready) yield streamEvent(event)
    ready.length = 0
    if (fault !== undefined) throw fault
  }
}

const faultOf = (work: () => void): unknown => {
  try {
    work()
    return undefined
  } catch (error) {
    return error
  }
}

const streamEvent = ({ raw, data, identified }: RawEvent): StreamEvent => {
  const about = { raw, resumable: identified }
  if (data.length === 0) return about
  const frame = readFrame(data, 'server')
  return frame.kind === 'fault' ? { ...about, fault: frame } : { ...about, frame }
}
