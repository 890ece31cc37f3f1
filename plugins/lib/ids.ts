import { hash, randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Redactor } from 'guard-gateway/core'

const started = Date.now() - Math.round(process.uptime() * 1000)

/** Identifies this process: host, process id, and start time, since process ids are reused. */
export const writer = `${hostname()}:${process.pid}:${started}`

/** True if the writer ran on this host and has exited. */
export const hasExited = (last: string): boolean => {
  const [host, pid] = last.split(':')
  if (last === writer || host !== hostname()) return false
  return Number(pid) === process.pid || isNone(pid)
}

/** True if a client's process, `host:pid`, ran on this host and has exited. */
export const clientHasExited = (client: string): boolean => {
  const [host, pid] = client.split(':')
  return host === hostname() && isNone(pid)
}

/** No process has this id. */
const isNone = (pid: string | undefined): boolean => {
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'

const base32 = (bytes: Uint8Array, length: number): string => {
  let text = ''
  let bits = 0
  let value = 0
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xffff
    bits += 8
    while (bits >= 5 && text.length < length) {
      bits -= 5
      text += alphabet.charAt((value >> bits) & 31)
    }
  }
  return text
}

/** A process-wide random prefix and a counter: unique, ordered by time, and free of system calls per id. */
const process_prefix = base32(randomBytes(8), 12)
let counter = 0

/** `prefix` + 26 characters that sort by time of making: 9 of milliseconds, 5 of a counter, 12 of this process. */
export const newId = (prefix: string, now: number): string => {
  counter = (counter + 1) % 33554432
  return prefix + timePart(now) + ordered(counter, 5) + process_prefix
}

/** What tells an id from its neighbours: of one that `newId` made, all but the part of its process. */
export const elideProcessPart = (id: string): string => id.replace(/(?<=_[0-9a-v]{14})[a-z2-7]{12}$/, '…')

/** An id cut to what tells it from its neighbours. */
export const shortId = (id: string): string => {
  if (id.length <= SHORT_CHARS + 2) return id
  const elided = elideProcessPart(id)
  return elided === id ? `${id.slice(0, SHORT_CHARS).toWellFormed()}…` : `${id.slice(0, 4)}…${elided.slice(-8)}`
}

const SHORT_CHARS = 12

/** Whether a person can tell an id from others: a word or a name, no UUID, hash or other long row of letters and digits. */
export const isReadableId = (id: string): boolean => !OPAQUE.test(id)

const OPAQUE = /[0-9a-f]{8}-?[0-9a-f]{4}|(?=[a-z]*\d)(?=\d*[a-z])[a-z\d]{16}/i

let last_time = 0
let last_part = ''

/** Many ids are made in one millisecond. */
const timePart = (now: number): string => {
  if (now !== last_time || last_part === '') {
    last_part = ordered(now, 9)
    last_time = now
  }
  return last_part
}

const ordered = (value: number, length: number): string => {
  let text = ''
  let rest = value
  for (let place = 0; place < length; place++) {
    text = ORDERED.charAt(rest % 32) + text
    rest = Math.floor(rest / 32)
  }
  return text
}
/** Digits before letters, so that text order is number order. */
const ORDERED = '0123456789abcdefghijklmnopqrstuv'

/** `prefix` + 24 lower-case base32 characters of the SHA-256 of `parts` joined by NUL: the same parts give the same id. */
export const derivedId = (prefix: string, ...parts: readonly string[]): string =>
  prefix + base32(hash('sha256', parts.join('\0'), 'buffer'), 24)

/** An id from outside as it is stored, shown and found again: itself, or `id_` and a hash where it looks like a secret; undefined for one that certainly is. */
export const storedId = (id: string, { judgeId }: Pick<Redactor, 'judgeId'>): string | undefined => {
  const judgement = judgeId(id)
  return judgement === 'plain' ? id : judgement === 'suspect' ? derivedId('id_', id) : undefined
}

/** `prefix` + 43 base64url characters of 32 random bytes. */
export const newKey = (prefix: string): string => prefix + randomBytes(32).toString('base64url')

/** SHA-256 as 64 hex digits. */
export const sha256 = (data: string | Uint8Array): string => hash('sha256', data, 'hex')

/** The first 128 bits of SHA-256, as 32 hex digits: enough to tell the contents of histories apart. */
export const shortSha256 = (data: string | Uint8Array): string => hash('sha256', data, 'hex').slice(0, 32)

const ID = /^[A-Za-z0-9._:@/+=-]{1,128}$/

/** The text has the form of an id. */
export const isId = (value: unknown): value is string => typeof value === 'string' && ID.test(value)
