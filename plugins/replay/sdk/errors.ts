/** Records that the gateway refused or could not be given; the message says how many and why. */
export class GuardIngestError extends Error {
  override readonly name = 'GuardIngestError'
  /** Of the answer; null if none came. */
  readonly status: number | null
  /** The gateway's, or `NETWORK_ERROR`, `TIMEOUT`, `HTTP_ERROR`, `ABANDONED`. */
  readonly code: string
  /** JSON pointer to what was refused, where the gateway named it. */
  readonly path: string | null

  constructor(message: string, about: IngestFault, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.status = about.status
    this.code = about.code
    this.path = about.path
  }
}

export interface IngestFault {
  readonly status: number | null
  readonly code: string
  readonly path: string | null
}

export type UseCode =
  | 'CLOSED'
  | 'INVALID_ARTIFACT'
  | 'INVALID_FAILURE_TAG'
  | 'INVALID_ID'
  | 'INVALID_OPTION'
  | 'INVALID_STATUS'
  | 'INVALID_TRACEPARENT'
  | 'MASK_FAILED'
  | 'QUEUE_FULL'
  | 'SPAN_ENDED'

/** A call or option that could not be followed; the library went on without it. */
export class GuardUseError extends Error {
  override readonly name = 'GuardUseError'
  readonly code: UseCode

  constructor(code: UseCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
  }
}
