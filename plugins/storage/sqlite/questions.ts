import { GuardError } from 'guard-gateway/core'
import type { Ask, FromWorker, ToWorker } from './protocol.ts'

type Answer = Extract<FromWorker, { readonly kind: 'answer' }>['value']
type Unnumbered = Ask extends infer A ? (A extends Ask ? Omit<A, 'id'> : never) : never

interface Question {
  readonly ask: Ask
  readonly resolve: (value: Answer) => void
  readonly reject: (error: Error) => void
}

/** Questions that wait for their answers; each is kept until then, so that it can be asked again. */
export class Questions {
  readonly #post: (message: ToWorker) => void
  readonly #open = new Map<number, Question>()
  #id = 0

  constructor(post: (message: ToWorker) => void) {
    this.#post = post
  }

  ask(question: Unnumbered): Promise<Answer> {
    const ask = { ...question, id: ++this.#id } as Ask
    return new Promise((resolve, reject) => {
      this.#open.set(ask.id, { ask, resolve, reject })
      this.#post(ask)
    })
  }

  answered(id: number, value: Answer): void {
    const question = this.#open.get(id)
    this.#open.delete(id)
    question?.resolve(value)
  }

  failed({ id, reason, message }: Extract<FromWorker, { readonly kind: 'failed' }>): void {
    const question = this.#open.get(id)
    this.#open.delete(id)
    const code = reason === 'full' ? 'STORAGE_FULL' : 'STORAGE_UNAVAILABLE'
    question?.reject(
      reason === 'fault'
        ? new TypeError(`The query cannot be answered: ${message}`)
        : new GuardError(code, `The database does not answer: ${message}.`),
    )
  }

  /** Asks everything that was not answered once more, after the worker was replaced. */
  resend(): void {
    for (const { ask } of this.#open.values()) this.#post(ask)
  }

  /** Refuses everything that waits: the worker does not come up. */
  unavailable(message: string): void {
    for (const { ask } of [...this.#open.values()])
      this.failed({ kind: 'failed', id: ask.id, reason: 'failing', message })
  }
}
