import type { ArtifactDraft, Attributes, EventDraft, RunDraft, SpanDraft } from 'guard-gateway/core'
import { guardNames } from '../names.ts'
import { isContentEvent } from './content-names.ts'
import type { MetadataOnly } from './metadata-only.ts'
import { errorText, isLabel, nameText } from './plain-text.ts'

/** Takes what people, models and tools said out of records of other programs, and counts how much that was. */
export class MetadataRecords {
  readonly #names: MetadataOnly
  readonly #dropped: (count: number) => void

  constructor(names: MetadataOnly, dropped: (count: number) => void) {
    this.#names = names
    this.#dropped = dropped
  }

  /** The span; it says how many attributes went. */
  span(span: SpanDraft): SpanDraft {
    const { name, status_message, attributes = {} } = span
    let count = 0
    const retained = this.#attributes(attributes, (more) => {
      count += more
    })
    return {
      ...span,
      name: nameText(name),
      ...(typeof status_message === 'string' ? { status_message: errorText(status_message) } : {}),
      ...(retained === attributes
        ? {}
        : { attributes: count === 0 ? retained : { ...retained, [guardNames.dropped]: count } }),
    }
  }

  /** The event; undefined for one that holds only content. */
  event(event: EventDraft): EventDraft | undefined {
    if (!isContentEvent(event.name)) return { ...this.#record(event), name: nameText(event.name) }
    this.#dropped(1)
    return undefined
  }

  artifact(artifact: ArtifactDraft): ArtifactDraft {
    return this.#record(artifact)
  }

  run(run: RunDraft): RunDraft {
    const { name, agent_name, task_id, tags } = run
    return {
      ...this.#record(run),
      ...(typeof name === 'string' ? { name: nameText(name) } : {}),
      ...(typeof agent_name === 'string' ? { agent_name: nameText(agent_name) } : {}),
      ...(typeof task_id === 'string' && !isLabel(task_id) ? { task_id: null } : {}),
      ...(tags === undefined ? {} : { tags: tags.filter(isLabel) }),
    }
  }

  #record<R extends { readonly attributes?: Attributes }>(record: R): R {
    if (record.attributes === undefined) return record
    const attributes = this.#attributes(record.attributes, () => {})
    return attributes === record.attributes ? record : { ...record, attributes }
  }

  #attributes(attributes: Attributes, counted: (count: number) => void): Attributes {
    return this.#names.attributes(attributes, (count) => {
      counted(count)
      this.#dropped(count)
    })
  }
}
