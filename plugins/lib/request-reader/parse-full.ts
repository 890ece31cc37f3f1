import type { ApiStyle, Envelope, Part } from 'guard-gateway/core'
import { conversationOf } from './conversation/conversation.ts'
import { ConversationBuilder } from './conversation/conversation-builder.ts'
import { hashPart } from './conversation/hashed-parts.ts'
import { openingOf } from './conversation/opening.ts'
import { literal } from './conversation/string-encoding.ts'
import { DuplicateMembers } from './duplicate-members.ts'
import { exactParts, exactValue, partsOf } from './elements.ts'
import { envelopeOf } from './envelope.ts'
import type { EnvelopeCache, ReadEnvelope } from './envelope-cache.ts'
import type { LastParsedList, ParsedList } from './last-parsed-list.ts'
import type { Span } from './member.ts'
import type { ReadRequest } from './requests.ts'
import { parseSlice, scanObject, skipValue } from './scanner.ts'
import type { Spoken } from './spoken.ts'

/** The caches of parts of earlier bodies. */
export interface ParseCaches {
  readonly envelopes: EnvelopeCache
  readonly lastList: LastParsedList
}

/** Parses a whole body at once and hashes it part by part. If its envelope is cached, only the list is parsed. */
export const parseFull = (spoken: Spoken, body: Buffer, { envelopes, lastList }: ParseCaches): ReadRequest => {
  const { style } = spoken
  const cached = envelopes.parseList(spoken, body)
  if (cached !== undefined) return readList(style, body, cached, cached.list, lastList)
  const duplicates = new DuplicateMembers(style.list)
  let span: Span | undefined
  scanObject(body, {
    member: (name, start) => {
      duplicates.check(name)
      const end = skipValue(body, start, 1)
      if (name === style.list) span = { start, end }
      return end
    },
  })
  const { [style.list]: list, ...members } = parseSlice(body, 0, body.length) as Record<string, unknown>
  if (!Array.isArray(list) && list !== undefined) members[style.list] = list
  const envelope = envelopeOf(spoken, members)
  const read = { envelope, before: envelope.before.map((part) => hashPart(part)) }
  if (span === undefined || !Array.isArray(list)) return readList(style, body, read, NO_LIST, lastList)
  envelopes.add(spoken, body, span, read)
  return readList(style, body, read, { span, strings: literal.utf8, elements: list }, lastList)
}

const NO_LIST: ParsedList = { span: undefined, strings: literal.utf8, elements: [] }

/** Lazy parts are parsed from the body again, so that a request that is kept does not keep its elements in memory. */
const readList = (
  style: ApiStyle,
  body: Buffer,
  { envelope, before }: ReadEnvelope,
  list: ParsedList,
  lastList: LastParsedList,
): ReadRequest => {
  const { span, strings } = list
  const builder = new ConversationBuilder()
  for (const piece of before) builder.add(piece)
  let exactElements: readonly unknown[] | undefined
  const exactly = (index: number) => {
    if (span !== undefined) exactElements ??= exactValue(body, span, strings.encoding) as readonly unknown[]
    return exactElements?.[index]
  }
  for (let index = 0; index < list.elements.length; index++)
    for (const part of exactParts(style, list.elements[index], index, exactly)) builder.add(hashPart(part, strings))
  lastList.set(style, body, list)
  const again = () => (span === undefined ? NO_LIST : lastList.get(style, body, span))
  return {
    envelope,
    conversation: conversationOf(envelope, builder, {
      opening: () => openingOf(allParts(style, envelope, again())),
      elements: list.elements.length,
      partsAt: (index) => {
        const { elements, strings } = again()
        return partsOf(style, elements[index], strings)
      },
    }),
  }
}

function* allParts(style: ApiStyle, envelope: Envelope, { elements, strings }: ParsedList): Iterable<Part> {
  yield* envelope.before
  for (const element of elements) yield* partsOf(style, element, strings)
  yield* envelope.after
}
