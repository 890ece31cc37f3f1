import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs'
import { GuardError } from 'guard-gateway/core'

const BYTES = 32

/** The key that logins are encrypted with: the configured one, else that of a file, which is made where it is missing; without both one that ends with this process. */
export const sealingKey = (configured: string, file: string | undefined): Uint8Array => {
  if (configured !== '') return keyOf(configured, 'mcp.login_key')
  if (file === undefined) return randomBytes(BYTES)
  return keyOf(readKey(file) ?? makeKey(file), file)
}

const keyOf = (text: string, where: string): Uint8Array => {
  const key = parseKey(text)
  if (key !== undefined) return key
  throw new GuardError(
    'STORAGE_UNAVAILABLE',
    `The key for logins at MCP servers in ${where} is none: it is 32 bytes in base64 or hex. Restore it, or remove it and log in again.`,
  )
}

/** The 32 bytes of a key in base64, base64url or hex; undefined for anything else. */
export const parseKey = (text: string): Uint8Array | undefined => {
  const bare = text.trim()
  if (/^[0-9a-f]{64}$/i.test(bare)) return Buffer.from(bare, 'hex')
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(bare) ? Buffer.from(bare, 'base64') : undefined
}

const readKey = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw unusable(file, error)
  }
}

/** Several processes may do so at once; the key of the first is that of all. */
const makeKey = (file: string): string => {
  const key = randomBytes(BYTES).toString('base64url')
  const unfinished = `${file}.${randomBytes(6).toString('hex')}.tmp`
  try {
    const opened = openSync(unfinished, 'wx', 0o600)
    try {
      writeSync(opened, `${key}\n`)
      fsyncSync(opened)
    } finally {
      closeSync(opened)
    }
    try {
      linkSync(unfinished, file)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    } finally {
      unlinkSync(unfinished)
    }
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw unusable(file, error)
  }
}

const unusable = (file: string, cause: unknown): GuardError =>
  new GuardError(
    'STORAGE_UNAVAILABLE',
    `The key for logins at MCP servers cannot be kept in ${file}: ${(cause as Error).message}. Check the folder and its rights, or set mcp.login_key.`,
    { cause },
  )
