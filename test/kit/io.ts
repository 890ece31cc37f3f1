import { Writable } from 'node:stream'
import type { Io } from 'guard-gateway/core'

/** An `Io` that remembers what was written. */
export interface FakeIo extends Io {
  readonly outText: () => string
  readonly errText: () => string
}

const collector = (tty: boolean): { readonly stream: Writable; readonly text: () => string } => {
  let text = ''
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk)
      done()
    },
  })
  return { stream: Object.assign(stream, { isTTY: tty }), text: () => text }
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
  return { out: out.stream, err: err.stream, env, cwd, outText: out.text, errText: err.text }
}
