import { Writable } from 'node:stream'
import type { Io } from 'guard-gateway/lib/command'

/** An `Io` that remembers what was written. */
export interface FakeIo extends Io {
  readonly outText: () => string
  readonly errText: () => string
  /** Resolves once `err` holds the text. */
  errHolds(part: string): Promise<void>
}

const collector = (tty: boolean) => {
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
  return { stream: Object.assign(stream, { isTTY: tty }), text: () => text, holds }
}

/** An `Io` for a command under test; no environment and no terminal unless given. */
export const fakeIo = ({
  cwd = '/',
  env = {},
  tty = false,
}: {
  cwd?: string
  env?: Io['env']
  tty?: boolean
} = {}): FakeIo => {
  const [out, err] = [collector(tty), collector(tty)]
  return { out: out.stream, err: err.stream, env, cwd, outText: out.text, errText: err.text, errHolds: err.holds }
}
