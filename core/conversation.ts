import { isUtf8 } from 'node:buffer'
import type { Conversation } from './call.ts'
import type { ApiStyle, Envelope, Part } from './contracts/api-style.ts'
import { GuardError } from './errors.ts'
import { canonical, hashTools, nothing } from './fingerprint.ts'
import { Fold } from './fold.ts'
import { Glimpses } from './glimpses.ts'
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
const glimpses = new Glimpses()

/**
 * Reads a request body for a style. Of a body that begins like earlier ones of the same `hint` (a session's id, or an empty text)
 * only what is new is parsed and hashed; one that begins like no other is remembered by a glimpse alone. Throws INVALID_BODY for anything but one JSON object within limits.
 */
export const readRequest = (style: ApiStyle, body: Buffer, hint: string): ReadRequest => {
  if (!isUtf8(body)) throw new GuardError('INVALID_BODY', 'The request body is not UTF-8.')
  const name = `${style.id} ${hint}`
  const large = body.length >= WORTH_KEEPING
  const scan = new Scan(style, body, large ? tapes.named(name) : [])
  const envelope = style.envelope(membersOf(scan))
  const known = resumed(scan, envelope) ?? begun(scan, envelope)
  const conversation = conversationOf(style, body, scan, envelope, known)
  if (large && glimpses.continues(name, body)) {
    tapes.keep(name, body, known, known.fold === scan.tape?.state.fold ? scan.tape : undefined)
  }
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
  const fingerprint = sha256(
    `${model}\0${hashTools(tools)}\0${choice}\0${previous_response_id ?? ''}\0${conversation ?? ''}\0${full}`,
  )
  return new LateOpening(rest, fingerprint, known, () => opening(style, body, scan, envelope))
}

/**
 * A conversation whose opening is read when somebody asks: most requests name their session.
 * A class and no literal with a getter: each of those gets a hidden class of its own, which keeps all that the getter sees alive
 * until the next full garbage collection.
 */
class LateOpening implements Conversation {
  readonly chain: Conversation['chain']
  readonly talk: Conversation['talk']
  readonly turns: Conversation['turns']
  readonly besides: Conversation['besides']
  readonly fingerprint: string
  readonly text_bytes: number
  readonly loose_results: Conversation['loose_results']
  readonly #known: Known
  readonly #read: () => NonNullable<Known['opening']>

  constructor(
    folded: Omit<Conversation, 'fingerprint' | 'opening'>,
    fingerprint: string,
    known: Known,
    read: () => NonNullable<Known['opening']>,
  ) {
    this.chain = folded.chain
    this.talk = folded.talk
    this.turns = folded.turns
    this.besides = folded.besides
    this.fingerprint = fingerprint
    this.text_bytes = folded.text_bytes
    this.loose_results = folded.loose_results
    this.#known = known
    this.#read = read
  }

  get opening(): string {
    this.#known.opening ??= this.#read()
    return this.#known.opening.hash
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
