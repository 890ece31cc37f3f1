import { GuardError } from 'guard-gateway/core'
import type { FromWorker, ToWorker, WorkerQuery } from './protocol.ts'

type Answer = Extract<FromWorker, { readonly kind: 'answer' }>['value']
type WithoutId = WorkerQuery extends infer A ? (A extends WorkerQuery ? Omit<A, 'id'> : never) : never

interface PendingQuery {
  readonly message: WorkerQuery
  readonly resolve: (value: Answer) => void
  readonly reject: (error: Error) => void
}

/** Queries that wait for their answers. Each is kept until then, so that it can be sent to a new worker. */
export class PendingQueries {
  readonly #post: (message: ToWorker) => void
  readonly #pending = new Map<number, PendingQuery>()
  #id = 0

  constructor(post: (message: ToWorker) => void) {
    this.#post = post
  }

  /** Sends a query and resolves with its answer. Throws TypeError for an invalid query, STORAGE_FULL and STORAGE_UNAVAILABLE. */
  send(query: WithoutId): Promise<Answer> {
    const message = { ...query, id: ++this.#id } as WorkerQuery
    return new Promise((resolve, reject) => {
      this.#pending.set(message.id, { message, resolve, reject })
      this.#post(message)
    })
  }

  answered(id: number, value: Answer): void {
    const query = this.#pending.get(id)
    this.#pending.delete(id)
    query?.resolve(value)
  }

  failed({ id, reason, message }: Extract<FromWorker, { readonly kind: 'failed' }>): void {
    const query = this.#pending.get(id)
    this.#pending.delete(id)
    const code = reason === 'full' ? 'STORAGE_FULL' : 'STORAGE_UNAVAILABLE'
    query?.reject(
      reason === 'fault'
        ? new TypeError(`The query cannot be answered: ${message}`)
        : new GuardError(code, `The database does not answer: ${message}.`),
    )
  }

  /** Sends all pending queries again, after the worker was replaced. */
  resend(): void {
    for (const { message } of this.#pending.values()) this.#post(message)
  }

  /** Fails all pending queries: the worker does not start. */
  unavailable(message: string): void {
    for (const id of [...this.#pending.keys()]) this.failed({ kind: 'failed', id, reason: 'failing', message })
  }
}
