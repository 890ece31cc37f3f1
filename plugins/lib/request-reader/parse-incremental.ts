import type { ApiStyle, Envelope, Part, ReadRequest } from 'guard-gateway/core'
import type { KeptBody } from './body-cache.ts'
import { conversationOf } from './conversation/conversation.ts'
import { Fold } from './conversation/conversation-builder.ts'
import { pieceOf } from './conversation/hashed-parts.ts'
import { openingOf } from './conversation/opening.ts'
import { envelopeOf } from './envelope.ts'
import { type Known, Scan } from './list-scan.ts'
import { parseSlice } from './scanner.ts'

/** A request, and what to remember of it; `earlier` is the body that it goes on from, if there is one. */
export interface ReadOn {
  readonly request: ReadRequest
  readonly known: Known
  readonly earlier: KeptBody<Known> | undefined
}

/** A body mostly goes on behind all that the earlier one held; from anywhere else so many elements are folded again at most. */
const STRETCH = 16

/** Reads a body that probably goes on from one of `kept`. */
export const readOn = (style: ApiStyle, body: Buffer, kept: readonly KeptBody<Known>[]): ReadOn => {
  const scan = new Scan(style, body, kept)
  const envelope = scan.frame?.envelope ?? envelopeOf(style, membersOf(scan))
  const known = resumed(scan, envelope) ?? begun(scan, envelope)
  const conversation = conversationOf(envelope, known.fold, {
    opening: () => {
      known.opening ??= opening(style, body, scan, envelope)
      return known.opening.hash
    },
    elements: scan.elements.length,
    partsAt: (index) => partsAt(style, body, scan, index),
  })
  return {
    request: { envelope, conversation },
    known,
    earlier: known.fold === scan.earlier?.state.fold ? scan.earlier : undefined,
  }
}

const partsAt = (style: ApiStyle, body: Buffer, { elements }: Scan, index: number): readonly Part[] => {
  const slice = elements[index]
  return slice === undefined ? [] : style.parts(parseSlice(body, slice.start, slice.end))
}

const membersOf = (scan: Scan): Readonly<Record<string, unknown>> => {
  const members: Record<string, unknown> = Object.create(null)
  for (const [name, slice] of scan.members) members[name] = slice.value
  return members
}

/** Goes on where the earlier body ended, if this one goes on from most of it. */
const resumed = (scan: Scan, envelope: Envelope): Known | undefined => {
  const state = scan.earlier?.state
  if (state === undefined || scan.same * 2 < state.elements.length || scan.same === 0) return
  const isWhole = scan.same === state.elements.length
  const from = isWhole ? scan.same : scan.same - (scan.same % STRETCH)
  const mark = isWhole ? state.end : state.marks[from / STRETCH]
  if (mark === undefined || !sameParts(envelope.before, state.envelope.before)) return
  state.fold.backTo(mark)
  state.marks.length = Math.ceil(from / STRETCH)
  const opening = state.opening !== undefined && state.opening.span <= scan.same ? state.opening : undefined
  return folded(
    scan,
    { ...around(scan, envelope), elements: scan.elements, fold: state.fold, marks: state.marks, end: mark, opening },
    from,
  )
}

const begun = (scan: Scan, envelope: Envelope): Known => {
  const fold = new Fold()
  for (const part of envelope.before) fold.add(pieceOf(part))
  return folded(
    scan,
    { ...around(scan, envelope), elements: scan.elements, fold, marks: [], end: fold.mark(), opening: undefined },
    0,
  )
}

const around = ({ frame, members, list }: Scan, envelope: Envelope) => ({
  members: frame?.members ?? members,
  moved: frame?.moved ?? 0,
  envelope,
  list,
})

/** Parts with blocks are not compared: they are rare before a list. */
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

const folded = (scan: Scan, known: Known, from: number): Known => {
  for (let index = from; index < scan.elements.length; index++) {
    if (index % STRETCH === 0) known.marks.push(known.fold.mark())
    for (const piece of scan.elements[index]?.value ?? []) known.fold.add(piece)
  }
  known.end = known.fold.mark()
  return known
}

/** Reads the body's beginning once more, only as far as the first user message. */
const opening = (style: ApiStyle, body: Buffer, scan: Scan, envelope: Envelope): { hash: string; span: number } => {
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
