import { memberIn, sourceOf } from '../../plugins/lib/json.ts'
import type { Frame } from '../contracts/frame.ts'
import { keyOfId } from './ids.ts'

/** The key of the request that a `notifications/cancelled` takes back; undefined for any other frame. */
export const cancelledKey = ({ method, text, params }: Frame): string | undefined => {
  if (method !== 'notifications/cancelled') return undefined
  const id = memberIn(params, 'requestId')?.value
  return id === undefined ? undefined : keyOfId(sourceOf(text, id))
}
