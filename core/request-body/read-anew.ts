import type { ApiStyle, Envelope, Part } from '../contracts/api-style.ts'
import { Fold } from '../conversation/fold.ts'
import { openingOf } from '../conversation/opening.ts'
import { pieceOf } from '../conversation/pieces.ts'
import { conversationOf } from '../conversation.ts'
import type { ReadRequest } from '../request-body.ts'
import { knownTools } from './known-tools.ts'
import { SingleMembers } from './single-members.ts'
import { parseSlice, skimObject, skipValue } from './skim.ts'

/** Reads a body of which nothing is known: parsed in one go, hashed part by part, nothing kept. */
export const readAnew = (style: ApiStyle, body: Buffer): ReadRequest => {
  const single = new SingleMembers(style.list)
  let tools: Uint8Array | undefined
  skimObject(body, {
    member: (name, at) => {
      single.note(name)
      const end = skipValue(body, at, 1)
      if (name === 'tools') tools = body.subarray(at, end)
      return end
    },
  })
  const { [style.list]: list, ...members } = parseSlice(body, 0, body.length) as Record<string, unknown>
  if (tools !== undefined) members.tools = knownTools(tools, members.tools)
  const elements = Array.isArray(list) ? (list as readonly unknown[]) : []
  const envelope = style.envelope(
    Array.isArray(list) || list === undefined ? members : { ...members, [style.list]: list },
  )
  const fold = new Fold()
  for (const part of envelope.before) fold.add(pieceOf(part))
  for (const element of elements) for (const part of style.parts(element)) fold.add(pieceOf(part))
  return {
    envelope,
    conversation: conversationOf(envelope, fold, {
      opening: () => openingOf(partsOf(style, envelope, elements)),
      elements: elements.length,
      partsAt: (index) => style.parts(elements[index]),
    }),
  }
}

function* partsOf(style: ApiStyle, envelope: Envelope, elements: readonly unknown[]): Iterable<Part> {
  yield* envelope.before
  for (const element of elements) yield* style.parts(element)
  yield* envelope.after
}
