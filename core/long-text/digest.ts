import { shortSha256 } from '../ids.ts'
import { BYTE_LIMIT, loadedProgram, places } from './memory.ts'

/** From so many bytes on a text is a long one. */
export const LONG = 128

/** Hex digits of a digest. */
export const DIGITS = 32

/** Whether a text of so many bytes is known by its digest; shorter ones cost less by SHA-256. */
export const isDigested = (length: number): boolean => length >= LONG && length <= BYTE_LIMIT

/**
 * What the text in the first so many of these bytes is known by: 128 bits as hex digits, of which nothing can be calculated back.
 * The digest of a long text is a fast one, which takes a third of what SHA-256 does: most of what a request makes
 * necessary is to hash results of tools. Where there is no WebAssembly, all are hashed by SHA-256.
 */
export const textHash = (bytes: Buffer, length: number): string => {
  const program = isDigested(length) ? loadedProgram() : null
  if (program === null) return shortSha256(bytes.subarray(0, length))
  bytes.copy(program.bytes, places.given, 0, length)
  program.digest(places.given, length, places.digest)
  return program.bytes.toString('latin1', places.digest, places.digest + DIGITS)
}
