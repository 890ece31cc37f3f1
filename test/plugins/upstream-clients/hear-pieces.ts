import { readInto } from 'guard-gateway/core'
import type { UpstreamResponse } from 'guard-gateway/lib/upstream-client'
import { Http1Exchange } from '../../../plugins/upstream-clients/net/http1-exchange.ts'
import type { Heard } from '../../kit/upstream-client.ts'

/** What the thin client makes of an answer that comes in these pieces, after which the server closes the connection. */
export const hearPieces = (pieces: readonly string[], method: string): Heard => {
  let heard: Heard = {}
  let isOpen = true
  const close = (): void => {
    isOpen = false
  }
  const answered = ({ status, headers, body }: UpstreamResponse): void => {
    heard = { status, headers, body: '', ended: 'cut' }
    const data = (chunk: Uint8Array): void => {
      heard = { ...heard, body: heard.body + Buffer.from(chunk).toString('latin1') }
    }
    const end = (): void => {
      heard = { ...heard, ended: 'whole' }
    }
    if (body instanceof Uint8Array) {
      data(body)
      end()
    } else readInto(body, { data, end, cut: () => {} })
  }
  const failed = ({ code, message }: NodeJS.ErrnoException): void => {
    heard = { failed: code ?? message }
  }
  const exchange = new Http1Exchange({ answered, failed, over: () => {} }, method, false)
  const connection = { send: () => {}, pause: () => {}, resume: () => {}, release: close, destroy: close }
  exchange.start(connection, { head: Buffer.alloc(0), body: undefined, closes: false })
  for (const piece of pieces) if (isOpen) exchange.received(Buffer.from(piece, 'latin1'))
  if (isOpen) exchange.ended()
  return heard
}

/** What was heard, but for the name of an error. */
export const withoutCode = ({ failed, ...heard }: Heard): unknown => (failed === undefined ? heard : 'failed')
