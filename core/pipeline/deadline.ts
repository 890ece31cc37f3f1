import { GuardError } from '../errors.ts'

const LOOK_MS = 250

interface Waiting {
  /** Position among those waiting. */
  place: number
  readonly due: number
  readonly what: string
  readonly limit: number
  readonly reject: (error: GuardError) => void
}

/**
 * Everything that somebody waits for with a limit: one timer looks after all of it, since nearly all of it ends in time.
 * An array: a set that churns leaves tables behind which keep what they held alive.
 */
const waiting: Waiting[] = []
let timer: NodeJS.Timeout | undefined

const look = (): void => {
  const now = performance.now()
  for (const one of waiting.filter(({ due }) => due <= now)) {
    leave(one)
    one.reject(new GuardError('INTERNAL', `A plugin on "${one.what}" did not answer within ${one.limit / 1000} s.`))
  }
  if (waiting.length > 0) return
  clearInterval(timer)
  timer = undefined
}

const leave = (one: Waiting): void => {
  if (waiting[one.place] !== one) return
  const last = waiting.pop()
  if (last === undefined || last === one) return
  waiting[one.place] = last
  last.place = one.place
}

/** Begins work that calls back, and gives its value; after `limit` milliseconds, give or take a quarter of a second, it counts as thrown. */
export const within = <T>(
  limit: number,
  what: string,
  begin: (done: (error: unknown, value?: T) => void) => void,
): Promise<T> =>
  new Promise<T>((resolve, reject) => {
    const one: Waiting = { place: waiting.length, due: performance.now() + limit, what, limit, reject }
    waiting.push(one)
    timer ??= setInterval(look, LOOK_MS)
    begin((error, value) => {
      leave(one)
      if (error) reject(error)
      else resolve(value as T)
    })
  })
