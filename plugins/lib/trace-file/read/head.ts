import type { ImportSource } from 'guard-gateway/lib/export-format'

const HEAD_BYTES = 16_384

/** The beginning of a file as text, about 16 KiB; bytes that are no text are replaced. */
export const headOf = (file: ImportSource): string => {
  const parts: Uint8Array[] = []
  let size = 0
  for (const chunk of file.chunks()) {
    parts.push(chunk.subarray(0, HEAD_BYTES - size))
    size += chunk.length
    if (size >= HEAD_BYTES) break
  }
  return Buffer.concat(parts).toString()
}
