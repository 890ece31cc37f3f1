import type { ApiStyle, Envelope, Part, ReadRequest } from 'guard-gateway/core'
import { conversationOf } from './conversation/conversation.ts'
import { Fold } from './conversation/conversation-builder.ts'
import { pieceOf } from './conversation/hashed-parts.ts'
import { openingOf } from './conversation/opening.ts'
import { literal } from './conversation/string-encoding.ts'
import { exactParts, exactValue, partsOf } from './elements.ts'
import { envelopeOf } from './envelope.ts'
import type { Frame, KnownFrames } from './envelope-cache.ts'
import type { LatestList, ParsedList } from './last-parsed-list.ts'
import type { Span } from './member.ts'
import { parseSlice, skimObject, skipValue } from './scanner.ts'
import { SingleMembers } from './single-members.ts'
import type { KnownTools } from './tools-cache.ts'

/** What is known of parts of bodies that have come before. */
export interface KnownParts {
  readonly frames: KnownFrames
  readonly tools: KnownTools
  readonly latest: LatestList
}

/** Reads a body of which nothing is known but perhaps what stands around its list: parsed in one go, hashed part by part. */
export const readAnew = (style: ApiStyle, body: Buffer, { frames, tools: known, latest }: KnownParts): ReadRequest => {
  const framed = frames.framedList(style, body)
  if (framed !== undefined) return readList(style, body, framed, framed.list, latest)
  const single = new SingleMembers(style.list)
  let tools: Uint8Array | undefined
  let place: Span | undefined
  skimObject(body, {
    member: (name, start) => {
      single.note(name)
      const end = skipValue(body, start, 1)
      if (name === 'tools') tools = body.subarray(start, end)
      else if (name === style.list) place = { start, end }
      return end
    },
  })
  const { [style.list]: list, ...members } = parseSlice(body, 0, body.length) as Record<string, unknown>
  if (tools !== undefined) members.tools = known.of(style, tools, members.tools)
  if (!Array.isArray(list) && list !== undefined) members[style.list] = list
  const envelope = envelopeOf(style, members)
  const frame = { envelope, before: envelope.before.map((part) => pieceOf(part)) }
  if (place === undefined || !Array.isArray(list)) return readList(style, body, frame, NO_LIST, latest)
  frames.keep(style, body, place, frame)
  return readList(style, body, frame, { place, wording: literal.utf8, elements: list }, latest)
}

const NO_LIST: ParsedList = { place: undefined, wording: literal.utf8, elements: [] }

/** What is asked later is read from the body again: whoever holds on to the request must not hold its elements. */
const readList = (
  style: ApiStyle,
  body: Buffer,
  { envelope, before }: Frame,
  list: ParsedList,
  latest: LatestList,
): ReadRequest => {
  const { place, wording } = list
  const fold = new Fold()
  for (const piece of before) fold.add(piece)
  let exact: readonly unknown[] | undefined
  const exactly = (index: number) => {
    if (place !== undefined) exact ??= exactValue(body, place, wording.encoding) as readonly unknown[]
    return exact?.[index]
  }
  for (let index = 0; index < list.elements.length; index++)
    for (const part of exactParts(style, list.elements[index], index, exactly)) fold.add(pieceOf(part, wording))
  latest.note(style, body, list)
  const again = () => (place === undefined ? NO_LIST : latest.at(style, body, place))
  return {
    envelope,
    conversation: conversationOf(envelope, fold, {
      opening: () => openingOf(allParts(style, envelope, again())),
      elements: list.elements.length,
      partsAt: (index) => {
        const { elements, wording } = again()
        return partsOf(style, elements[index], wording)
      },
    }),
  }
}

function* allParts(style: ApiStyle, envelope: Envelope, { elements, wording }: ParsedList): Iterable<Part> {
  yield* envelope.before
  for (const element of elements) yield* partsOf(style, element, wording)
  yield* envelope.after
}
