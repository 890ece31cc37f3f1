/**
 * Frees a buffer at once, if its memory is all its own; nobody may read or write it any more. Garbage collection weighs what stands
 * outside of the heap only when there is much of it, and then looks through the whole heap.
 */
export const free = ({ buffer, length }: Buffer): void => {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0)
}
