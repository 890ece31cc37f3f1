import type { ErrorBody } from 'guard-gateway/core'

/** Google's names of the HTTP statuses that have one of their own. */
const statusNames: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  504: 'DEADLINE_EXCEEDED',
}

/** One of our own errors as APIs of Google say it, in the form of `google.rpc.Status`: what programs read of it is an `ErrorInfo`, whose metadata are texts. */
export const googleError = ({ message, ...error }: ErrorBody, request_id: string, code: number): object => ({
  error: { code, message, status: statusNames[code] ?? otherName(code), details: [errorInfo(error, request_id)] },
})

const otherName = (code: number): string => (code < 500 ? 'INVALID_ARGUMENT' : 'UNAVAILABLE')

const errorInfo = (
  { code, type, session_id, rule_id, known, path }: Omit<ErrorBody, 'message'>,
  request_id: string,
): object => ({
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  reason: code,
  domain: 'guard-gateway',
  metadata: { type, session_id, rule_id, path, known: known?.join(', '), request_id },
})
