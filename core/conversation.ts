import { isUtf8 } from 'node:buffer'
import type { Conversation } from './call.ts'
import type { ApiStyle, Envelope, Part } from './contracts/api-style.ts'
import { GuardError } from './errors.ts'
import { canonical, hashTools, nothing } from './fingerprint.ts'
import { Fold } from './fold.ts'
import { sha256 } from './ids.ts'
import { openingOf } from './opening.ts'
import { pieceOf } from './pieces.ts'
import { type Known, Scan } from './scan.ts'
import { parseSlice } from './skim.ts'
import { Tapes } from './tapes.ts'

/** A request as its style and the rules read it. */
export interface ReadRequest {
  readonly envelope: Envelope
  readonly conversation: Conversation
}

/** Bodies below this are read anew each time: remembering them costs more. */
const WORTH_KEEPING = 2048

const tapes = new Tapes<Known>()

/**
 * Reads a request body for a style. Of a body that begins like an earlier one of the same `hint` (a session's id, or an empty text)
 * only what is new is parsed and hashed. Throws INVALID_BODY for anything but one JSON object within limits.
 */
export const readRequest = (style: ApiStyle, body: Buffer, hint: string): ReadRequest => {
  if (!isUtf8(body)) throw new GuardError('INVALID_BODY', 'The request body is not UTF-8.')
  const name = `${style.id} ${hint}`
  const kept = body.length >= WORTH_KEEPING
  const scan = new Scan(style, body, kept ? tapes.named(name) : [])
  const envelope = style.envelope(membersOf(scan))
  const known = resumed(scan, envelope) ?? begun(scan, envelope)
  const conversation = conversationOf(style, body, scan, envelope, known)
  if (kept) tapes.keep(name, body, known, known.fold === scan.tape?.state.fold ? scan.tape : undefined)
  return { envelope, conversation }
}

const membersOf = (scan: Scan): Readonly<Record<string, unknown>> => {
  const members: Record<string, unknown> = Object.create(null)
  for (const [name, slice] of scan.members) members[name] = slice.value
  return members
}

/** Goes on where the earlier body ended, if this one goes on from most of it. */
const resumed = (scan: Scan, envelope: Envelope): Known | undefined => {
  const state = scan.tape?.state
  if (state === undefined || scan.same * 2 < state.elements.length || scan.same === 0) return
  const mark = state.marks[scan.same]
  if (mark === undefined || !sameParts(envelope.before, state.before)) return
  state.fold.backTo(mark)
  state.marks.length = scan.same + 1
  const opening = state.opening !== undefined && state.opening.span <= scan.same ? state.opening : undefined
  return folded(scan, { ...state, members: scan.members, elements: scan.elements, opening }, scan.same)
}

const begun = (scan: Scan, envelope: Envelope): Known => {
  const fold = new Fold()
  for (const part of envelope.before) fold.add(pieceOf(part))
  return folded(
    scan,
    {
      members: scan.members,
      elements: scan.elements,
      marks: [fold.mark()],
      fold,
      before: envelope.before,
      opening: undefined,
    },
    0,
  )
}

/** Parts with blocks are not compared: they are rare before a list. */
const sameParts = (left: readonly Part[], right: readonly Part[]): boolean =>
  left.length === right.length && left.every((part, index) => samePart(part, right[index]))

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
    for (const piece of scan.elements[index]?.value ?? []) known.fold.add(piece)
    known.marks.push(known.fold.mark())
  }
  return known
}

const conversationOf = (style: ApiStyle, body: Buffer, scan: Scan, envelope: Envelope, known: Known): Conversation => {
  const { fold } = known
  const mark = fold.mark()
  for (const part of envelope.after) fold.add(pieceOf(part))
  const { full, ...rest } = fold.conversation()
  fold.backTo(mark)
  const { model, tools, tool_choice, previous_response_id, conversation } = envelope
  const choice = tool_choice === undefined ? '' : canonical(tool_choice, nothing)
  return {
    ...rest,
    fingerprint: sha256(
      `${model}\0${hashTools(tools)}\0${choice}\0${previous_response_id ?? ''}\0${conversation ?? ''}\0${full}`,
    ),
    get opening() {
      known.opening ??= opening(style, body, scan, envelope)
      return known.opening.hash
    },
  }
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
