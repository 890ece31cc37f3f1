import { applyEdits, type Edit, setMember } from '#lib/json'
import { type Frame, readFrame } from '#lib/json-rpc'
import type { ClientResponse, OutgoingMessage } from '../relay/response.ts'

/** A message of the proxy's own, or one with edits, as it is handed to the relay of a server. */
export const frameOf = (text: string): Frame => {
  const frame = readFrame(Buffer.from(text), 'client')
  if (frame.kind === 'fault') throw new Error(`The bundle wrote a message that cannot be sent: ${frame.message}`)
  return frame
}

/** The frame with these edits. */
export const edited = (frame: Frame, edits: readonly Edit[]): Frame => frameOf(applyEdits(frame.text, edits))

/** The request under another id; `id` is source text. */
export const withRequestId = (frame: Frame, id: string, ...edits: readonly Edit[]): Frame =>
  edited(frame, [setMember(frame.root, 'id', id), ...edits])

/** A message on its way to the client, read. */
export const readOut = ({ frame, message }: OutgoingMessage): Frame | undefined => {
  if (frame !== undefined || message === undefined) return frame
  const read = readFrame(Buffer.from(message), 'server')
  return read.kind === 'fault' ? undefined : read
}

/** The response in what a relay gives; undefined: there is none. Other messages of its stream go to `others`, also those that follow. */
export const responseIn = async (
  answer: ClientResponse,
  others: (out: OutgoingMessage) => void,
): Promise<Frame | undefined> => {
  if (answer.form === 'none') return undefined
  if (answer.form === 'json') return readOut(answer)
  const { promise, resolve } = Promise.withResolvers<Frame | undefined>()
  const read = async () => {
    for await (const out of answer.events) {
      const frame = readOut(out)
      if (frame?.kind === 'response') resolve(frame)
      else if (frame !== undefined) others(out)
    }
  }
  read().then(
    () => resolve(undefined),
    () => resolve(undefined),
  )
  return promise
}
