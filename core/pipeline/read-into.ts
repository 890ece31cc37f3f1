import { Readable } from 'node:stream'
import type { BodyReader, PushedBody } from '../contracts/reply.ts'

/** Streams a body to its one reader. */
export const readInto = (body: Readable | PushedBody, reader: BodyReader): void => {
  if (!(body instanceof Readable)) return void body.read(reader)
  let isOver = false
  const cut = (): void => {
    if (isOver) return
    isOver = true
    reader.cut()
  }
  body.on('data', (chunk: Uint8Array) => reader.data(chunk))
  body.once('end', () => {
    isOver = true
    reader.end()
  })
  body.once('error', cut)
  body.once('close', cut)
  // it broke off before the listeners were added
  if (body.destroyed) cut()
}
