import { GuardError } from './errors.ts'

const LOOK_MS = 250

interface Waiting {
  readonly due: number
  readonly what: string
  readonly limit: number
  readonly reject: (error: GuardError) => void
}

/** Everything that somebody waits for with a limit: one timer looks after all of it, since nearly all of it ends in time. */
const waiting = new Set<Waiting>()
let timer: NodeJS.Timeout | undefined

const look = (): void => {
  const now = performance.now()
  for (const one of waiting) {
    if (one.due > now) continue
    waiting.delete(one)
    one.reject(new GuardError('INTERNAL', `A plugin on "${one.what}" did not answer within ${one.limit / 1000} s.`))
  }
  if (waiting.size > 0) return
  clearInterval(timer)
  timer = undefined
}

/** The work's value; after `limit` milliseconds, give or take a quarter of a second, it counts as thrown. */
export const within = <T>(limit: number, work: Promise<T>, what: string): Promise<T> =>
  new Promise<T>((resolve, reject) => {
    const one: Waiting = { due: performance.now() + limit, what, limit, reject }
    waiting.add(one)
    timer ??= setInterval(look, LOOK_MS)
    work.then(
      (value) => {
        waiting.delete(one)
        resolve(value)
      },
      (error: unknown) => {
        waiting.delete(one)
        reject(error)
      },
    )
  })
