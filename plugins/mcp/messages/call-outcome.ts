import { memberIn, sourceOf } from 'guard-gateway/lib/json'
import type { Frame } from 'guard-gateway/lib/json-rpc'
import type { CallOutcome } from '../hooks.ts'

/** How a call ended, read from its response. */
export const callOutcome = ({ text, result }: Frame): CallOutcome['outcome'] => {
  if (result === undefined) return 'rpc_error'
  const isError = memberIn(result, 'isError')?.value
  return isError !== undefined && sourceOf(text, isError) === 'true' ? 'tool_error' : 'ok'
}
