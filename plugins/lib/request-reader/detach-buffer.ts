/**
 * Frees the memory of a buffer at once by detaching it, if it is the only view of that memory. The buffer must not be read or written
 * afterwards. Garbage collection frees memory outside of the heap late, and walks the whole heap for it.
 */
export const detachBuffer = ({ buffer, length }: Buffer): void => {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0)
}
