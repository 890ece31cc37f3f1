import { shortSha256 } from '../ids.ts'
import { BYTE_LIMIT, loadedPrograms, places } from './memory.ts'

/** From so many bytes on a text is a long one. */
export const LONG = 128

/** Hex digits of a digest. */
export const DIGITS = 32

/** Whether a text of so many bytes is known by its digest; shorter ones cost less by SHA-256. */
export const isDigested = (length: number): boolean => length >= LONG && length <= BYTE_LIMIT

/**
 * What the text in the first so many of these bytes is known by: 128 bits as hex digits, from which no text can be calculated back.
 * A long one has a digest that takes a third of the time of SHA-256, since requests are results of tools for the most part.
 * Where there is no WebAssembly, all have SHA-256.
 */
export const textHash = (bytes: Buffer, length: number): string => {
  const programs = isDigested(length) ? loadedPrograms() : null
  if (programs === null) return shortSha256(bytes.subarray(0, length))
  bytes.copy(programs.bytes, places.given, 0, length)
  programs.digest(places.given, length, places.digest)
  return programs.bytes.toString('latin1', places.digest, places.digest + DIGITS)
}
