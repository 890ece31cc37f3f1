import { LRU } from 'tiny-lru'
import { newId } from '#lib/ids'
import type { Draft } from './draft.ts'

/** What is in a form that was sent and is not saved; `step` is what was asked for last. */
export interface UnsavedDraft {
  readonly project_id: string
  readonly draft: Draft
  readonly step: 'changed' | 'tried' | 'confirming'
}

const MAX_DRAFTS = 50

/** Drafts of policies by an id that an address carries, so that reloading a page sends nothing again; the oldest goes first, and all with the process. */
export class Drafts {
  readonly #drafts = new LRU<UnsavedDraft>(MAX_DRAFTS)

  /** Keeps a draft, and gives its id. `now`: milliseconds since 1970. */
  keep(unsaved: UnsavedDraft, now: number): string {
    const id = newId('draft_', now)
    this.#drafts.set(id, unsaved)
    return id
  }

  /** The draft of this id, if it is kept and one of this project. */
  of(project_id: string, id: string): UnsavedDraft | undefined {
    const unsaved = this.#drafts.peek(id)
    return unsaved?.project_id === project_id ? unsaved : undefined
  }
}
