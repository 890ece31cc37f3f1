/** Records that the gateway refused or did not receive. The message has their number and the reason. */
export class GuardIngestError extends Error {
  override readonly name = 'GuardIngestError'
  /** HTTP status of the response. Null without a response. */
  readonly status: number | null
  /** The code of the gateway, or `NETWORK_ERROR`, `TIMEOUT`, `HTTP_ERROR`, `ABANDONED`. */
  readonly code: string
  /** JSON pointer to the refused value. Null if the gateway gave none. */
  readonly path: string | null

  constructor(message: string, fault: IngestFault, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.status = fault.status
    this.code = fault.code
    this.path = fault.path
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
  | 'INVALID_USAGE'
  | 'MASK_FAILED'
  | 'QUEUE_FULL'
  | 'SPAN_ENDED'

/** An invalid call or option, which the SDK ignores. */
export class GuardUseError extends Error {
  override readonly name = 'GuardUseError'
  readonly code: UseCode

  constructor(code: UseCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
  }
}
