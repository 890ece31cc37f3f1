import { randomUUID } from 'node:crypto'
import type { Connection } from '../connection/connection.ts'
import { plain, type Statement } from '../connection/statement.ts'

/** A fence may go once nothing of its connection can be on its way any more. */
const FENCE_LIFE = `interval '1 day'`

/**
 * Tells whether a batch was committed whose answer was lost. Each transaction inserts a row under a number of its own. When its
 * connection is lost, a fence is inserted under the same number: if the row is there, the batch is committed, and if not, it never
 * will be, since its own row would be the second. The insert of the fence waits for a transaction that is still under way.
 */
export class CommitMarkers {
  readonly #process = randomUUID()
  #next = 1
  /** Numbers whose answers have not come, in order, with how many batches each is of. */
  readonly #open = new Map<number, number>()
  #removed = 0

  /** A new number, for one transaction of so many batches. */
  begin(batches = 1): number {
    this.#open.set(this.#next, batches)
    return this.#next++
  }

  /** A batch of this number has its answer. */
  end(number: number): void {
    const left = (this.#open.get(number) ?? 1) - 1
    if (left > 0) this.#open.set(number, left)
    else this.#open.delete(number)
  }

  /** How many rows can be removed, about. */
  get surplus(): number {
    return this.#lowest - 1 - this.#removed
  }

  statement(number: number): Statement {
    return {
      name: 'guard_commit',
      sql: 'insert into guard_commits (process, number) values ($1, $2)',
      values: [this.#process, String(number)],
    }
  }

  /** Finds out whether the transaction of this number was committed. Afterwards it can be no more. */
  async wasCommitted(connection: Connection, number: number): Promise<boolean> {
    const sql = 'insert into guard_commits (process, number, fence) values ($1, $2, true) on conflict do nothing'
    const [inserted] = await connection.run([plain(sql, this.#process, String(number))])
    if (inserted?.count === 1) return false
    // it may be a fence of an earlier try, whose answer was lost as well
    const [found] = await connection.run([
      plain('select fence from guard_commits where process = $1 and number = $2', this.#process, String(number)),
    ])
    return found?.rows[0]?.[0] === 'f'
  }

  /** Removes rows whose answers have come, and old fences. */
  async remove(connection: Connection): Promise<void> {
    const lowest = this.#lowest
    await connection.run([
      plain(
        'delete from guard_commits where process = $1 and number < $2 and not fence',
        this.#process,
        String(lowest),
      ),
    ])
    this.#removed = lowest - 1
  }

  /** Removes what processes left that were killed. */
  async removeOld(connection: Connection): Promise<void> {
    await connection.run([plain(`delete from guard_commits where at < now() - ${FENCE_LIFE}`)])
  }

  get #lowest(): number {
    for (const number of this.#open.keys()) return number
    return this.#next
  }
}
