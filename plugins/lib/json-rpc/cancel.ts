import { memberIn, sourceOf } from 'guard-gateway/lib/json'
import { keyOfId } from './ids.ts'
import type { Frame } from './message.ts'

/** The key of the request that a `notifications/cancelled` takes back; undefined for any other frame. */
export const cancelledKey = ({ method, text, params }: Frame): string | undefined => {
  if (method !== 'notifications/cancelled') return undefined
  const id = memberIn(params, 'requestId')?.value
  return id === undefined ? undefined : keyOfId(sourceOf(text, id))
}
