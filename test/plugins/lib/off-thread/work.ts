import { threadId } from 'node:worker_threads'
import type { OffThreadModule } from 'guard-gateway/lib/off-thread'

export interface Task {
  readonly say?: string
  readonly fail?: string
  readonly spin?: boolean
  readonly exit?: boolean
}

export interface Answer {
  readonly said: string
  readonly thread: number
  /** Tasks that this thread did before. */
  readonly before: number
}

let done = 0

export const work: OffThreadModule<Task, Answer>['work'] = ({ say = '', fail, spin = false, exit = false }) => {
  if (fail !== undefined) throw new Error(fail)
  if (exit) process.exit(3)
  while (spin) done += 0
  return { said: say, thread: threadId, before: done++ }
}
