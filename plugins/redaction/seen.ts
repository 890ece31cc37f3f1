import { hash, randomBytes } from 'node:crypto'
import type { RedactionScope } from 'guard-gateway/core'
import { LRU } from 'tiny-lru'
import { DEFAULT_PROJECT } from '#lib/session'
import type { Hit } from './redact/hit.ts'
import type { Recall } from './redact/learned.ts'

/** Sessions whose secrets are known, how many of each, and for how long after the last was seen. */
const MAX_SCOPES = 512
const MAX_VALUES = 128
const KEEP_MS = 24 * 60 * 60 * 1000
/** What a value that a generator made looks like in any text; ends of longer runs are none. */
const TOKEN = /[A-Za-z0-9_-]{12,}/g
const MAX_TOKEN = 200
const NONE: readonly Hit[] = []

const mayBeKnown = (token: string): boolean => token.length <= MAX_TOKEN && /\d/.test(token) && /[A-Za-z]/.test(token)

/** Keyed hashes of values that were hidden by their names, by run and session of a project: a value is hidden wherever they show it again. Words and numbers are not looked up. */
export class SeenValues {
  readonly #key = randomBytes(32).toString('base64')
  readonly #scopes = new LRU<LRU<true>>(MAX_SCOPES, KEEP_MS, true)

  /** What a run and its session are known to hold. Other projects may call theirs the same. */
  of({ project_id, default_project_id, trace_id, session_id }: RedactionScope): Recall & { readonly changes: number } {
    const project = project_id ?? default_project_id ?? DEFAULT_PROJECT
    const scopes = [trace_id, session_id].flatMap((id, at) => (id == null ? [] : JSON.stringify([project, at, id])))
    let changes = 0
    return {
      get changes() {
        return changes
      },
      add: (value) => {
        const token = value.match(TOKEN)?.sort((a, b) => b.length - a.length)[0]
        if (token === undefined || !mayBeKnown(token)) return
        const hashed = this.#hash(token)
        for (const scope of scopes) {
          const values = this.#scopes.get(scope) ?? new LRU<true>(MAX_VALUES)
          if (!values.has(hashed)) changes++
          values.set(hashed, true)
          this.#scopes.set(scope, values)
        }
      },
      find: (text) => {
        if (!scopes.some((scope) => this.#scopes.has(scope))) return NONE
        const sets = scopes.flatMap((scope) => this.#scopes.get(scope) ?? [])
        return Array.from(text.matchAll(TOKEN)).flatMap(({ 0: token, index }): readonly Hit[] => {
          const hashed = mayBeKnown(token) ? this.#hash(token) : undefined
          const isKnown = hashed !== undefined && sets.some((values) => values.has(hashed))
          return isKnown ? [{ start: index, end: index + token.length, kind: 'name' }] : []
        })
      },
    }
  }

  #hash(token: string): string {
    return hash('sha256', this.#key + token, 'base64').slice(0, 22)
  }
}
