import type { ApiStyle, Envelope, Part, ProviderObject } from 'guard-gateway/core'
import { distinct, NONE, objectsIn } from '#lib/api-style'
import { sha256 } from '#lib/ids'
import type { CachedBody } from './body-cache.ts'
import { conversationOf } from './conversation/conversation.ts'
import { ConversationBuilder } from './conversation/conversation-builder.ts'
import { collapse } from './conversation/fingerprint.ts'
import { hashPart } from './conversation/hashed-parts.ts'
import { withoutReminders } from './conversation/system-reminders.ts'
import { type BodyState, ListScan } from './list-scan.ts'
import type { ReadRequest } from './requests.ts'
import { parseSlice } from './scanner.ts'
import type { Spoken } from './spoken.ts'

/** A request and the state to cache. `earlier`: the cached body whose state it continues, if any. */
export interface IncrementalRead {
  readonly request: ReadRequest
  readonly state: BodyState
  readonly earlier: CachedBody<BodyState> | undefined
}

/** Elements between two checkpoints. Most bodies continue after the last element of an earlier one; from anywhere else fewer elements than this are added again. */
const CHECKPOINT_ELEMENTS = 16

/** Reads a body that probably continues one of the cached bodies, which were sent to the same place: only its new elements are parsed and hashed. */
export const parseIncremental = (
  spoken: Spoken,
  body: Buffer,
  cached: readonly CachedBody<BodyState>[],
): IncrementalRead => {
  const { style } = spoken
  const scan = scanned(style, body, cached)
  const envelope = envelopeOf(spoken, membersOf(scan))
  const state = resumeState(scan, envelope) ?? newState(scan, envelope)
  const conversation = conversationOf(envelope, state.builder, {
    opening: () => {
      state.opening ??= opening(style, body, scan, envelope)
      return state.opening.hash
    },
    elements: scan.elements.length,
    partsAt: (index) => partsAt(style, body, scan, index),
  })
  return {
    request: { envelope, conversation, objects: objectsOf(scan, envelope) },
    state,
    earlier: state.builder === scan.earlier?.state.builder ? scan.earlier : undefined,
  }
}

/** What is no JSON is refused with the byte from which on it is none, which only a parse of the whole body tells. */
const scanned = (style: ApiStyle, body: Buffer, cached: readonly CachedBody<BodyState>[]): ListScan => {
  try {
    return new ListScan(style, body, cached)
  } catch (error) {
    parseSlice(body, 0, body.length)
    throw error
  }
}

const objectsOf = ({ elements }: ListScan, { objects = NONE }: Envelope): readonly ProviderObject[] => {
  const named = elements.flatMap(({ value }) => (value.objects.length === 0 ? [] : value.objects))
  return named.length === 0 ? objects : distinct([...objects, ...named])
}

const partsAt = (style: ApiStyle, body: Buffer, { elements }: ListScan, index: number): readonly Part[] => {
  const slice = elements[index]
  return slice === undefined ? [] : style.parts(parseSlice(body, slice.start, slice.end))
}

const membersOf = (scan: ListScan): Readonly<Record<string, unknown>> => {
  const members: Record<string, unknown> = Object.create(null)
  for (const [name, slice] of scan.members) members[name] = slice.value
  return members
}

/** Continues the state of the earlier body, if at least half of its elements are the same. */
const resumeState = (scan: ListScan, envelope: Envelope): BodyState | undefined => {
  const state = scan.earlier?.state
  if (state === undefined || scan.same * 2 < state.elements.length || scan.same === 0) return
  const isWhole = scan.same === state.elements.length
  const from = isWhole ? scan.same : scan.same - (scan.same % CHECKPOINT_ELEMENTS)
  const checkpoint = isWhole ? state.end : state.checkpoints[from / CHECKPOINT_ELEMENTS]
  if (checkpoint === undefined || !sameParts(envelope.before, state.envelope.before)) return
  state.builder.rollback(checkpoint)
  state.checkpoints.length = Math.ceil(from / CHECKPOINT_ELEMENTS)
  const opening = state.opening !== undefined && state.opening.span <= scan.same ? state.opening : undefined
  return addElements(
    scan,
    {
      members: scan.members,
      envelope,
      elements: scan.elements,
      builder: state.builder,
      checkpoints: state.checkpoints,
      end: checkpoint,
      opening,
    },
    from,
  )
}

const newState = (scan: ListScan, envelope: Envelope): BodyState => {
  const builder = new ConversationBuilder()
  for (const part of envelope.before) builder.add(hashPart(part))
  return addElements(
    scan,
    {
      members: scan.members,
      envelope,
      elements: scan.elements,
      builder,
      checkpoints: [],
      end: builder.checkpoint(),
      opening: undefined,
    },
    0,
  )
}

/** Parts with blocks are never the same here: they are rare before a list. */
const sameParts = (left: readonly Part[], right: readonly Part[]): boolean =>
  left === right || (left.length === right.length && left.every((part, index) => samePart(part, right[index])))

const samePart = (left: Part, right: Part | undefined): boolean =>
  right !== undefined &&
  left.kind === right.kind &&
  left.kind !== 'call' &&
  right.kind !== 'call' &&
  left.text === right.text &&
  !left.blocks?.length &&
  !right.blocks?.length

const addElements = (scan: ListScan, state: BodyState, from: number): BodyState => {
  for (let index = from; index < scan.elements.length; index++) {
    if (index % CHECKPOINT_ELEMENTS === 0) state.checkpoints.push(state.builder.checkpoint())
    for (const piece of scan.elements[index]?.value.parts ?? []) state.builder.add(piece)
  }
  state.end = state.builder.checkpoint()
  return state
}

/** Reads the beginning of the body again, up to the first user message. */
const opening = (style: ApiStyle, body: Buffer, scan: ListScan, envelope: Envelope): { hash: string; span: number } => {
  let span = 0
  function* parts(): Iterable<Part> {
    yield* envelope.before
    for (const { start, end } of scan.elements) {
      span++
      yield* style.parts(parseSlice(body, start, end))
    }
    span = Number.POSITIVE_INFINITY
    yield* envelope.after
  }
  return { hash: openingOf(parts()), span }
}

/** The envelope that a style reads from the members beside the list. It is frozen, since later requests with the same bytes share it. */
const envelopeOf = ({ style, target }: Spoken, members: Readonly<Record<string, unknown>>): Envelope => {
  const read = style.envelope(members, target)
  const objects = objectsIn(members)
  const envelope = objects.length === 0 ? read : { ...read, objects }
  Object.freeze(envelope.before)
  Object.freeze(envelope.after)
  Object.freeze(envelope.hints)
  return Object.freeze(envelope)
}

const month = '(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}'
const day = '\\d{1,2}(?:st|nd|rd|th)?'
const half = ' ?[ap]\\.?m\\b\\.?'
const timesAndIds = new RegExp(
  [
    '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}',
    `\\d{1,4}(?:[-/.:]\\d{1,4}){1,7}(?:${half})?`,
    `\\b\\d{1,2}${half}`,
    '(?=[a-f]{0,64}\\d)[0-9a-f]{8,64}',
    '\\d{4,40}',
    `\\b${month}\\.? ${day}\\b`,
    `\\b${day}(?: of)? ${month}\\b`,
    '\\b(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,? (?=#|\\d|[a-z]{3})',
  ].join('|'),
  'gi',
)

/** The hash of the opening of a conversation, which tells its requests when nothing names them: the system text without times and ids, and the first user text. */
const openingOf = (parts: Iterable<Part>): string => {
  let system = ''
  for (const part of parts) {
    if (part.kind === 'system') system += `${part.text}\0`
    if (part.kind !== 'user') continue
    const text = collapse(withoutReminders(part.text))
    if (text !== '') return sha256(`${masked(system)}\0${text}`)
  }
  return sha256(`${masked(system)}\0`)
}

const masked = (text: string): string => collapse(text).replace(timesAndIds, '#')
