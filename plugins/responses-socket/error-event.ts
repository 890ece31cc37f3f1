import { headerOf } from 'guard-gateway/core'
import { isJsonObject, jsonObjectOf } from '#lib/json'

/** Headers that an error event carries, in this order. */
const forwardedHeaders = ['x-request-id', 'x-should-retry', 'x-guard-decision', 'x-guard-reason', 'x-guard-session-id']

/** What an error of ours says. */
export interface ErrorEvent {
  readonly status: number
  /** The body of the answer that HTTP would have. */
  readonly body: unknown
  /** Its headers: name, value, name, value … */
  readonly headers: readonly string[]
  readonly stream_id: string | undefined
}

/** An error of ours as the message that clients of this transport know. It always has a status: without one they wait, or begin anew without end. */
export const errorEvent = ({ status, body, headers, stream_id }: ErrorEvent): Buffer => {
  const { error } = jsonObjectOf(body)
  const entries = forwardedHeaders.flatMap((name) => {
    const value = headerOf(headers, name)
    return value === undefined ? [] : [[name, value] as const]
  })
  return Buffer.from(
    JSON.stringify({
      type: 'error',
      status,
      sequence_number: 0,
      ...(stream_id === undefined ? {} : { stream_id }),
      error: isJsonObject(error) ? { ...error, param: error.param ?? null } : { type: 'api_error', message: '' },
      headers: Object.fromEntries(entries),
    }),
  )
}
