import type { IncomingHttpHeaders } from 'node:http'
import { GuardError } from 'guard-gateway/core'
import { mcpErrors } from '../error-codes.ts'

const METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'DELETE', 'OPTIONS'])
const ALLOW = 'GET, POST, DELETE'

/** Refuses a verb that the transport does not have. Throws METHOD_NOT_ALLOWED. */
export const checkMethod = (method: string): void => {
  if (METHODS.has(method)) return
  throw new GuardError('METHOD_NOT_ALLOWED', `MCP takes ${ALLOW}, not ${method}.`, { headers: { allow: ALLOW } })
}

/** Refuses `Content-Type` and `Accept` values that MCP does not have. Throws UNSUPPORTED_MEDIA_TYPE, NOT_ACCEPTABLE. */
export const checkMedia = (method: string, headers: IncomingHttpHeaders): void => {
  const { 'content-type': type, 'content-encoding': coding = 'identity', accept } = headers
  if (method === 'POST' && coding !== 'identity')
    throw new GuardError('UNSUPPORTED_MEDIA_TYPE', 'A message of MCP is sent without a content-encoding.')
  if (method === 'POST' && type !== JSON_TYPE && essence(type ?? '') !== JSON_TYPE)
    throw new GuardError('UNSUPPORTED_MEDIA_TYPE', 'A message of MCP is application/json.')
  if (method === 'POST') {
    // what clients of the official libraries send needs no reading
    if (accept !== USUAL && (!takes(accept, JSON_TYPE) || !takes(accept, EVENTS)))
      throw new GuardError(mcpErrors.NOT_ACCEPTABLE, `Accept must name application/json and ${EVENTS}.`)
  } else if (method === 'GET' && !takes(accept, EVENTS))
    throw new GuardError(mcpErrors.NOT_ACCEPTABLE, `Accept must name ${EVENTS}.`)
}

const JSON_TYPE = 'application/json'
const EVENTS = 'text/event-stream'
const USUAL = `${JSON_TYPE}, ${EVENTS}`

const essence = (type: string): string => type.split(';', 1)[0]?.trim().toLowerCase() ?? ''

const takes = (accept: string | undefined, wanted: string): boolean => {
  const family = `${wanted.split('/', 1)[0]}/*`
  return (accept ?? '').split(',').some((entry) => {
    const type = essence(entry)
    return type === wanted || type === '*/*' || type === family
  })
}
