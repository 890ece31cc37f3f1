/** A response that breaks HTTP; `code` is what Node's own client calls the same error. */
export class HttpFault extends Error {
  readonly code: string
  constructor(code: string, cause?: unknown) {
    super('the response breaks HTTP', { cause })
    this.code = code
  }
}

/** The connection ended before a response was complete. */
export class ConnectionClosed extends Error {
  readonly code = 'ECONNRESET'
  constructor(cause?: unknown) {
    super('the connection ended without an answer', { cause })
  }
}

/** A connection that was not made in time. */
export class ConnectTimeout extends Error {
  readonly code = 'CONNECT_TIMEOUT'
}

/** An error of undici's with the code that Node's own client gives it; those of the system and of TLS have theirs. */
export const withNodeCode = (error: NodeJS.ErrnoException): NodeJS.ErrnoException => {
  if (error.code === 'UND_ERR_HEADERS_OVERFLOW') return new HttpFault('HPE_HEADER_OVERFLOW', error)
  // undici reports it in place of whatever broke a head that has a length
  if (error.code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') return new HttpFault('HPE_UNEXPECTED_CONTENT_LENGTH', error)
  if (error.code?.startsWith('UND_ERR_') === true) return new ConnectionClosed(error)
  if (error.name !== 'HTTPParserError') return error
  const code = error.code ?? reasons.find(([reason]) => reason.test(error.message))?.[1] ?? 'HPE_INVALID_HEADER_TOKEN'
  return new HttpFault(code, error)
}

/** Undici says the reason of its parser, and not the parser's code. */
const reasons: readonly (readonly [reason: RegExp, code: string])[] = [
  [/Content-Length/i, 'HPE_UNEXPECTED_CONTENT_LENGTH'],
  [/Transfer-Encoding/i, 'HPE_INVALID_TRANSFER_ENCODING'],
  [/chunk/i, 'HPE_INVALID_CHUNK_SIZE'],
  [/Expected HTTP/i, 'HPE_INVALID_CONSTANT'],
  [/version/i, 'HPE_INVALID_VERSION'],
  [/status/i, 'HPE_INVALID_STATUS'],
  [/CR|LF/, 'HPE_CR_EXPECTED'],
]
