import type { Conversation, Envelope, Part, TurnContent } from 'guard-gateway/core'
import { sha256 } from '#lib/ids'
import type { ConversationBuilder } from './conversation-builder.ts'
import { canonical, field, hashTools, nothing } from './fingerprint.ts'
import { hashPart } from './hashed-parts.ts'
import { turnContents } from './turn-contents.ts'

/** Parts of a body that are read only when they are needed: the hash of its opening, and the parts of the list elements by index. */
export interface LazyParts {
  opening(): string
  readonly elements: number
  partsAt(element: number): readonly Part[]
}

/** The conversation of a request. The builder stays unchanged. */
export const conversationOf = (envelope: Envelope, builder: ConversationBuilder, lazy: LazyParts): Conversation => {
  const checkpoint = builder.checkpoint()
  for (const part of envelope.after) builder.add(hashPart(part))
  const { full, ...rest } = builder.conversation()
  builder.rollback(checkpoint)
  const { model, tools, tool_choice, previous_response_id, conversation, task } = envelope
  const choice = tool_choice === undefined ? '' : canonical(tool_choice, nothing)
  const fingerprint = sha256(
    `${field(model)}\0${hashTools(tools)}\0${choice}\0${field(previous_response_id ?? '')}\0${field(conversation ?? '')}\0${full}${answeredIds(envelope, rest)}${task === undefined ? '' : `\0task ${task}`}`,
  )
  return new LazyConversation(rest, fingerprint, envelope, lazy)
}

/** The ids of the calls that results answer, if the provider stores the conversation: equal results of different calls are different requests. */
const answeredIds = ({ conversation }: Envelope, { loose_results }: Pick<Conversation, 'loose_results'>): string =>
  conversation === null ? '' : loose_results.map(({ id }) => `\0${field(id)}`).join('')

/**
 * A conversation that reads its opening and its results lazily: most requests name their session, and most rules need only hashes.
 * It is a class and not an object literal with a getter: each such literal gets its own hidden class, which keeps everything that the
 * getter can see alive until the next full garbage collection.
 */
class LazyConversation implements Conversation {
  readonly chain: Conversation['chain']
  readonly talk: Conversation['talk']
  readonly turns: Conversation['turns']
  readonly systems: Conversation['systems']
  readonly besides: Conversation['besides']
  readonly fingerprint: string
  readonly text_bytes: number
  readonly loose_results: Conversation['loose_results']
  readonly #envelope: Envelope
  readonly #lazy: LazyParts
  #opening: string | undefined
  #cached: { readonly turns: number; readonly contents: readonly TurnContent[] } | undefined

  constructor(
    built: Omit<Conversation, 'fingerprint' | 'opening'>,
    fingerprint: string,
    envelope: Envelope,
    lazy: LazyParts,
  ) {
    this.chain = built.chain
    this.talk = built.talk
    this.turns = built.turns
    this.systems = built.systems
    this.besides = built.besides
    this.fingerprint = fingerprint
    this.text_bytes = built.text_bytes
    this.loose_results = built.loose_results
    this.#envelope = envelope
    this.#lazy = lazy
  }

  get opening(): string {
    this.#opening ??= this.#lazy.opening()
    return this.#opening
  }

  /** The contents of the last turns. They are cached, since several rules need the same turns. */
  turnContents(turns: number): readonly TurnContent[] {
    if (turns <= 0) return []
    if (this.#cached === undefined || turns > this.#cached.turns)
      this.#cached = { turns, contents: this.#contents(turns) }
    const { contents } = this.#cached
    return contents.length > turns ? contents.slice(-turns) : contents
  }

  resultTexts(turns: number): readonly (readonly string[])[] {
    return this.turnContents(turns).map(({ results }) => results)
  }

  #contents(turns: number): readonly TurnContent[] {
    const { before, after } = this.#envelope
    const { elements } = this.#lazy
    return turnContents(turns, elements + 2, (index) => {
      if (index === 0) return before
      return index > elements ? after : this.#lazy.partsAt(index - 1)
    })
  }
}
