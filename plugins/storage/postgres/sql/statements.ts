import type { Compiled } from '../../kysely/query.ts'
import type { Statement } from '../connection/statement.ts'
import type { PgValue } from './values.ts'

interface Known extends Compiled {
  readonly name: string
}

/** The most statements of one kind that stay prepared in each connection. Others are planned anew each time. */
const MAX_PREPARED = 400

/** The compiled statements by their shape. Each gets a name of its own, under which connections keep it prepared. */
export class Statements {
  readonly #known = new Map<string, Known>()
  readonly #prefix: string

  /** `prefix`: what the names of these statements begin with. */
  constructor(prefix: string) {
    this.#prefix = prefix
  }

  /** The statement of a shape with these values. `make` compiles it if it is new. */
  prepared(shape: string, make: () => Compiled, values: readonly PgValue[]): Statement {
    let known = this.#known.get(shape)
    if (known === undefined) {
      known = { ...make(), name: this.#known.size < MAX_PREPARED ? `${this.#prefix}${this.#known.size}` : '' }
      if (known.name !== '') this.#known.set(shape, known)
    }
    return bound(known, values, known.name)
  }
}

const bound = ({ sql, take }: Compiled, values: readonly PgValue[], name: string): Statement => {
  const bindings = take.map((place) => values[place] ?? null)
  return name === '' ? { sql, values: bindings } : { name, sql, values: bindings }
}

/** A statement that is planned for its values, since the best way to its rows depends on them. */
export const unprepared = (compiled: Compiled, values: readonly PgValue[]): Statement => bound(compiled, values, '')
