import { GuardError } from 'guard-gateway/core'

/** Members that a request of any dialect may hold once only, since sessions, rules or the reading of its reply follow from them: two readers of doubles could see two requests. */
const single = new Set([
  'conversation',
  'function_call',
  'functions',
  'input',
  'instructions',
  'max_completion_tokens',
  'max_output_tokens',
  'max_tokens',
  'messages',
  'metadata',
  'model',
  'previous_response_id',
  'prompt',
  'prompt_cache_key',
  'stream',
  'system',
  'tool_choice',
  'tools',
])

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
