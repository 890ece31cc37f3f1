import type { Conversation } from './call.ts'
import type { Envelope } from './contracts/api-style.ts'
import { canonical, hashTools, nothing } from './fingerprint.ts'
import type { Fold } from './fold.ts'
import { sha256 } from './ids.ts'
import { pieceOf } from './pieces.ts'

/** The conversation of a folded request; leaves the fold as it was. `opening` is asked for at most once. */
export const conversationOf = (envelope: Envelope, fold: Fold, opening: () => string): Conversation => {
  const mark = fold.mark()
  for (const part of envelope.after) fold.add(pieceOf(part))
  const { full, ...rest } = fold.conversation()
  fold.backTo(mark)
  const { model, tools, tool_choice, previous_response_id, conversation } = envelope
  const choice = tool_choice === undefined ? '' : canonical(tool_choice, nothing)
  const fingerprint = sha256(
    `${model}\0${hashTools(tools)}\0${choice}\0${previous_response_id ?? ''}\0${conversation ?? ''}\0${full}`,
  )
  return new LateOpening(rest, fingerprint, opening)
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
  readonly #read: () => string
  #opening: string | undefined

  constructor(folded: Omit<Conversation, 'fingerprint' | 'opening'>, fingerprint: string, read: () => string) {
    this.chain = folded.chain
    this.talk = folded.talk
    this.turns = folded.turns
    this.besides = folded.besides
    this.fingerprint = fingerprint
    this.text_bytes = folded.text_bytes
    this.loose_results = folded.loose_results
    this.#read = read
  }

  get opening(): string {
    this.#opening ??= this.#read()
    return this.#opening
  }
}
