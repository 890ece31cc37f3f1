import type { Conversation, Envelope, Part, TurnContent } from 'guard-gateway/core'
import { sha256 } from 'guard-gateway/lib/ids'
import type { Fold } from './conversation-builder.ts'
import { canonical, field, hashTools, nothing } from './fingerprint.ts'
import { pieceOf } from './hashed-parts.ts'
import { turnContents } from './turn-contents.ts'

/** What of a body is read only if somebody asks: its opening, at most once, and the elements of its list, by their index. */
export interface Later {
  opening(): string
  readonly elements: number
  partsAt(element: number): readonly Part[]
}

/** The conversation of a folded request; leaves the fold as it was. */
export const conversationOf = (envelope: Envelope, fold: Fold, later: Later): Conversation => {
  const mark = fold.mark()
  for (const part of envelope.after) fold.add(pieceOf(part))
  const { full, ...rest } = fold.conversation()
  fold.backTo(mark)
  const { model, tools, tool_choice, previous_response_id, conversation } = envelope
  const choice = tool_choice === undefined ? '' : canonical(tool_choice, nothing)
  const fingerprint = sha256(
    `${field(model)}\0${hashTools(tools)}\0${choice}\0${field(previous_response_id ?? '')}\0${field(conversation ?? '')}\0${full}${answered(envelope, rest)}`,
  )
  return new LateReading(rest, fingerprint, envelope, later)
}

/** The calls that results answer where the provider keeps the calls: equal results of different calls are different requests. */
const answered = ({ conversation }: Envelope, { loose_results }: Pick<Conversation, 'loose_results'>): string =>
  conversation === null ? '' : loose_results.map(({ id }) => `\0${field(id)}`).join('')

/**
 * A conversation whose opening and results are read when somebody asks: most requests name their session, and most rules need hashes only.
 * A class and no literal with a getter: each of those gets a hidden class of its own, which keeps all that the getter sees alive
 * until the next full garbage collection.
 */
class LateReading implements Conversation {
  readonly chain: Conversation['chain']
  readonly talk: Conversation['talk']
  readonly turns: Conversation['turns']
  readonly systems: Conversation['systems']
  readonly besides: Conversation['besides']
  readonly fingerprint: string
  readonly text_bytes: number
  readonly loose_results: Conversation['loose_results']
  readonly #envelope: Envelope
  readonly #later: Later
  #opening: string | undefined
  #read: { readonly turns: number; readonly contents: readonly TurnContent[] } | undefined

  constructor(
    folded: Omit<Conversation, 'fingerprint' | 'opening'>,
    fingerprint: string,
    envelope: Envelope,
    later: Later,
  ) {
    this.chain = folded.chain
    this.talk = folded.talk
    this.turns = folded.turns
    this.systems = folded.systems
    this.besides = folded.besides
    this.fingerprint = fingerprint
    this.text_bytes = folded.text_bytes
    this.loose_results = folded.loose_results
    this.#envelope = envelope
    this.#later = later
  }

  get opening(): string {
    this.#opening ??= this.#later.opening()
    return this.#opening
  }

  /** Several rules ask for the same turns. */
  turnContents(turns: number): readonly TurnContent[] {
    if (turns <= 0) return []
    if (this.#read === undefined || turns > this.#read.turns) this.#read = { turns, contents: this.#contents(turns) }
    const { contents } = this.#read
    return contents.length > turns ? contents.slice(-turns) : contents
  }

  resultTexts(turns: number): readonly (readonly string[])[] {
    return this.turnContents(turns).map(({ results }) => results)
  }

  #contents(turns: number): readonly TurnContent[] {
    const { before, after } = this.#envelope
    const { elements } = this.#later
    return turnContents(turns, elements + 2, (index) => {
      if (index === 0) return before
      return index > elements ? after : this.#later.partsAt(index - 1)
    })
  }
}
