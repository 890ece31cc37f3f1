import { GuardError } from 'guard-gateway/core'

/** Members that a request of any API style may have only once, since sessions, rules or the reply depend on them: of duplicates, two parsers could read different values. */
const uniqueNames = new Set([
  'cachedContent',
  'cached_content',
  'container',
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

/** Checks the members of one body for duplicates. */
export class DuplicateMembers {
  readonly #list: string
  readonly #seen = new Set<string>()

  constructor(list: string) {
    this.#list = list
  }

  /** Throws INVALID_BODY for the second member of a name that may occur only once. */
  check(name: string): void {
    if (name !== this.#list && !uniqueNames.has(name)) return
    if (this.#seen.has(name)) {
      throw new GuardError('INVALID_BODY', `The request body holds "${name}" twice.`, { path: `/${name}` })
    }
    this.#seen.add(name)
  }
}
