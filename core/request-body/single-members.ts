import { GuardError } from '../errors.ts'

/** Members that a request of any dialect may hold once only: two readers of doubles could see two requests. */
const single = new Set(['model', 'messages', 'input', 'system', 'tools', 'tool_choice'])

/** Watches the members of one body for doubles. */
export class SingleMembers {
  readonly #list: string
  readonly #seen = new Set<string>()

  constructor(list: string) {
    this.#list = list
  }

  /** Throws INVALID_BODY at the second of a member that must stand alone. */
  note(name: string): void {
    if (name !== this.#list && !single.has(name)) return
    if (this.#seen.has(name)) {
      throw new GuardError('INVALID_BODY', `The request body holds "${name}" twice.`, { path: `/${name}` })
    }
    this.#seen.add(name)
  }
}
