import type { ApiStyle } from 'guard-gateway/core'
import type { RequestTarget } from '#lib/api-style'

/** The dialect that a body is spoken in, and where it was sent: both may say what the body means. */
export interface Spoken {
  readonly style: ApiStyle
  readonly target: RequestTarget
}
