/** Whether bytes begin with the header of a zlib stream (RFC 1950, 2.2); a raw deflate stream practically never does. */
export const isZlibStream = (bytes: Uint8Array): boolean => {
  const [method = 0, flags = 0] = bytes
  return (method & 0x0f) === 8 && method >> 4 <= 7 && ((method << 8) | flags) % 31 === 0
}
