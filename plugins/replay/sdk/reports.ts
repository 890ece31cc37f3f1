import type { GuardIngestError, GuardUseError } from './errors.ts'

const MINUTE_MS = 60_000

/** Lets one thing of each kind through a minute. */
export class OncePerMinute {
  readonly #last = new Map<string, number>()

  allows(kind: string): boolean {
    const now = Date.now()
    const last = this.#last.get(kind)
    // the distance, because a wall clock may be set back
    if (last !== undefined && Math.abs(now - last) < MINUTE_MS) return false
    this.#last.set(kind, now)
    return true
  }
}

/** Where everything goes that goes wrong inside the library. Never throws. */
export type Report = (error: GuardIngestError | GuardUseError) => void

/** Reports to `onError`, else as one warning a kind and minute on stderr; `hide` takes secrets out of the warning. */
export const reporter = (onError: ((error: Error) => void) | undefined, hide: (text: string) => string): Report =>
  onError === undefined ? warner(hide) : (error) => tell(onError, error)

const tell = (onError: (error: Error) => unknown, error: Error): void => {
  try {
    const result = onError(error)
    if (result instanceof Promise) result.catch(() => {})
  } catch {
    // what fails in the user's own reporter has nowhere to go
  }
}

const warner = (hide: (text: string) => string): Report => {
  const limit = new OncePerMinute()
  return (error) => {
    if (limit.allows(error.code)) process.stderr.write(`guard-gateway/sdk: ${hide(error.message)} (${error.code})\n`)
  }
}
