import { Readable } from 'node:stream'
import type { BodyReader, PushedBody } from '../contracts/reply.ts'

/** Has a body that is not whole told to its one reader as it comes. */
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
  // it broke before anybody listened
  if (body.destroyed) cut()
}
