import { styleText } from 'node:util'
import type { Input, Io } from 'guard-gateway/core'

/** A number of nanoseconds as it came out of an answer: exact, a bigint where a double cannot hold it. */
export type Ns = bigint | number

/** `12.4s`, `320ms`, and `running` for what has no end. */
export const durationText = (ns: Ns | null): string => {
  if (ns === null) return 'running'
  const ms = Number(ns) / 1_000_000
  return Math.abs(ms) < 1000 ? `${Math.round(ms)}ms` : `${(ms / 1000).toFixed(1)}s`
}

/** Colours a text on `io.out` by what it says, where somebody sees it on a terminal that shows colours. */
export const painter = ({ options }: Input, { out, env }: Io): ((text: string, word: string) => string) => {
  const terminal = 'isTTY' in out && out.isTTY === true && env.TERM !== 'dumb'
  const off = options.color === false || options.json === true || Boolean(env.NO_COLOR)
  if (off || !(terminal || Boolean(env.FORCE_COLOR))) return (text) => text
  return (text, word) => {
    const colour = colours[word]
    return colour === undefined ? text : styleText(colour, text, { validateStream: false })
  }
}

const colours: Readonly<Record<string, 'green' | 'yellow' | 'red' | undefined>> = {
  ok: 'green',
  allow: 'green',
  running: 'yellow',
  cancelled: 'yellow',
  shadow_flag: 'yellow',
  confirm: 'yellow',
  error: 'red',
  timeout: 'red',
  blocked: 'red',
  block: 'red',
  deny: 'red',
}
