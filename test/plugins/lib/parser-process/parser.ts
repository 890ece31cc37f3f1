import type { ParserModule } from '#lib/parser-process'

export interface Text {
  readonly say?: string
  readonly fail?: string
  readonly spin?: boolean
  readonly exit?: boolean
  /** Exhausts the stack. */
  readonly overflow?: boolean
  /** Fills the heap. */
  readonly hoard?: boolean
}

export interface Answer {
  readonly say: string
  readonly pid: number
  /** Names of the environment. */
  readonly env: readonly string[]
  /** Texts that this process parsed before. */
  readonly before: number
}

let count = 0

const deeper = (): unknown => [deeper()]

export const parse: ParserModule<Text, Answer>['parse'] = ({ say = '', fail, spin, exit, overflow, hoard }) => {
  if (fail !== undefined) throw new Error(fail)
  if (exit === true) process.exit(3)
  if (overflow === true) deeper()
  const heap: unknown[] = []
  while (hoard === true) heap.push(Array.from({ length: 10_000 }, () => ({})))
  while (spin === true) count += 0
  return { say, pid: process.pid, env: Object.keys(process.env), before: count++ }
}
