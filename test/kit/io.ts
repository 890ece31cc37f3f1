import { Writable } from 'node:stream'
import type { Io } from '#lib/command'

/** An `Io` that remembers what was written. */
export interface FakeIo extends Io {
  readonly outText: () => string
  readonly errText: () => string
  /** Resolves once `err` holds the text. */
  errHolds(part: string): Promise<void>
}

interface Screen {
  /** Seen as a terminal. */
  readonly tty?: boolean
  /** Its size; absent: it does not say. */
  readonly columns?: number
  readonly rows?: number
}

const collector = ({ tty = false, columns, rows }: Screen) => {
  let text = ''
  const waiting = new Map<string, () => void>()
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk)
      for (const [part, found] of waiting) if (text.includes(part)) found()
      done()
    },
  })
  const holds = (part: string) =>
    text.includes(part) ? Promise.resolve() : new Promise<void>((resolve) => waiting.set(part, resolve))
  return { stream: Object.assign(stream, { isTTY: tty, columns, rows }), text: () => text, holds }
}

/** An `Io` for a command under test; no environment and no terminal unless given. */
export const fakeIo = ({
  cwd = '/',
  env = {},
  ...screen
}: {
  cwd?: string
  env?: Io['env']
} & Screen = {}): FakeIo => {
  const [out, err] = [collector(screen), collector(screen)]
  return { out: out.stream, err: err.stream, env, cwd, outText: out.text, errText: err.text, errHolds: err.holds }
}
