import type { JsonValue } from '#lib/json'

/** A JSON-RPC message of MCP, read once; `raw` are the bytes that came, and they leave as they came unless a part is spliced. */
export interface Frame {
  readonly kind: 'request' | 'notification' | 'response'
  readonly raw: Buffer
  /** The same as text; all places below count its characters. */
  readonly text: string
  /** Source text of the id, digit for digit; none on notifications, and on errors that a server could not place. */
  readonly id: string | undefined
  /** What requests and answers are paired by: type and value of the id. */
  readonly key: string | undefined
  readonly method: string | undefined
  /** The whole object; members are recorded three levels deep. */
  readonly root: JsonValue
  readonly params: JsonValue | undefined
  readonly result: JsonValue | undefined
  readonly error: JsonValue | undefined
  /** JSON pointer of a member that appears twice; only in frames from a server, whose inside nobody interprets unless asked to. */
  readonly duplicate: string | undefined
}

/** Why bytes are no frame that may pass, as JSON-RPC says it. The id is there when it was read without doubt. */
export interface FrameFault {
  readonly kind: 'fault'
  readonly code: -32700 | -32600
  readonly message: string
  readonly id?: string
  /** It was meant as a notification or a response, which nobody waits for an answer to. */
  readonly silent?: boolean
}
