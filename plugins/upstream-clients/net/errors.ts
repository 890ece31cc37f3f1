/** A response that breaks HTTP; `code` is what Node's own parser calls the same error. */
export class HttpParseError extends Error {
  readonly code: string
  constructor(code: string, detail: string) {
    super(detail)
    this.code = code
  }
}

/** The connection ended before a response was complete. */
export class ConnectionClosed extends Error {
  readonly code = 'ECONNRESET'
  constructor() {
    super('the connection ended without an answer')
  }
}

/** A connection that was not made in time. */
export class ConnectTimeout extends Error {
  readonly code = 'CONNECT_TIMEOUT'
}
