import type { GuardIngestError, GuardUseError } from './errors.ts'

const MINUTE_MS = 60_000

/** Limits each kind of message to one per minute. */
export class OncePerMinute {
  readonly #last = new Map<string, number>()

  allows(kind: string): boolean {
    const now = Date.now()
    const last = this.#last.get(kind)
    // absolute difference, because a wall clock may be set back
    if (last !== undefined && Math.abs(now - last) < MINUTE_MS) return false
    this.#last.set(kind, now)
    return true
  }
}

/** Reports an internal error. Never throws. */
export type Report = (error: GuardIngestError | GuardUseError) => void

/** Reports to `onError`, or as one warning per kind and minute on stderr; `hide` redacts the warning. */
export const reporter = (onError: ((error: Error) => void) | undefined, hide: (text: string) => string): Report =>
  onError === undefined ? warner(hide) : (error) => tell(onError, error)

const tell = (onError: (error: Error) => unknown, error: Error): void => {
  try {
    const result = onError(error)
    if (result instanceof Promise) result.catch(() => {})
  } catch {
    // an error of the user's reporter is ignored
  }
}

const warner = (hide: (text: string) => string): Report => {
  const limit = new OncePerMinute()
  return (error) => {
    if (limit.allows(error.code)) process.stderr.write(`guard-gateway/sdk: ${hide(error.message)} (${error.code})\n`)
  }
}
