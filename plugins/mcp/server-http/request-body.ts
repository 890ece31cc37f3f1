import type { IncomingMessage } from 'node:http'
import { GuardError } from 'guard-gateway/core'

/** The body of a request, whole. Rejects with BODY_TOO_LARGE above `limit` bytes, and with INVALID_BODY if the client leaves. */
export const bodyOf = (request: IncomingMessage, limit: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    if (Number(request.headers['content-length'] ?? 0) > limit) return reject(tooLarge(limit))
    const chunks: Buffer[] = []
    let length = 0
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      chunks.push(chunk)
      if (length <= limit) return
      request.pause()
      reject(tooLarge(limit))
    })
    request.on('end', () => {
      const [first] = chunks
      resolve(first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks, length))
    })
    request.on('error', (cause) => reject(new GuardError('INVALID_BODY', undefined, { cause })))
    request.on('close', () => {
      if (!request.complete) reject(new GuardError('INVALID_BODY'))
    })
  })

/** Nothing more is read from this connection. */
const tooLarge = (limit: number): GuardError =>
  new GuardError('BODY_TOO_LARGE', `The message is larger than ${limit} bytes (mcp.limits.frame_bytes).`, {
    headers: { connection: 'close' },
  })
