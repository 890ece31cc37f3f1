import type { Attributes } from 'guard-gateway/core'
import { guardNames, semconv } from '../names.ts'
import { instantOf, type OtlpSpan } from '../span-record.ts'
import type { SenderReader, SenderReport, TextField } from './sender-attributes.ts'

/** Whose a run is, in the words of its writer, which need not be ids. */
export interface RunNames {
  readonly project_id?: string | undefined
  /** The project is only the name of the service. */
  readonly project_guessed?: boolean
  readonly session_id?: string | undefined
  readonly agent_id?: string | undefined
  readonly agent_name?: string | undefined
  readonly name?: string | undefined
  readonly tags?: readonly string[] | undefined
}

interface Clue<T> {
  readonly rank: number
  readonly start: bigint
  readonly value: T
}

/** Resources say what holds for all spans, so they come after what a span says under as good a name. */
const LATE = 1n << 64n

const ROOT_NAME = 'agent.run'

const RUN_FIELDS = ['project', 'session', 'agent_id', 'agent', 'run_name'] as const satisfies readonly TextField[]
type RunTextField = (typeof RUN_FIELDS)[number]

/** What spans and resources of other programs say of the run that they belong to: on any of them, under the best name, first by time. */
export class RunClues {
  readonly #texts = new Map<RunTextField, Clue<string>>()
  #tags: Clue<readonly string[]> | undefined
  #root: Clue<string> | undefined

  /** Throws ImportFault. */
  span({ parentId, record, place }: OtlpSpan, report: SenderReport): void {
    const start = instantOf(record, 'startTimeUnixNano', place) ?? 0n
    this.#addTexts(report, start)
    if (parentId !== null) return
    const name = report.texts.get('span_title')?.value ?? record.name
    // every run has a root of that name
    if (typeof name === 'string' && name.trim() !== '' && name !== ROOT_NAME && !isNoiseName(name))
      this.#root = better(this.#root, { rank: 0, start, value: name })
  }

  /** `about`: attributes of all resources of the run, one after another. */
  names(about: Attributes, reader: SenderReader): RunNames {
    this.#addTexts(reader.read(about), LATE)
    const of = (field: RunTextField): string | undefined => this.#texts.get(field)?.value
    const service = textFrom(about[semconv.service])
    const project = textFrom(about[guardNames.project]) ?? named(of('project'))
    return {
      project_id: project ?? service,
      project_guessed: project === undefined && service !== undefined,
      session_id: of('session'),
      agent_id: of('agent_id'),
      agent_name: of('agent') ?? service,
      name: of('run_name') ?? this.#root?.value,
      tags: this.#tags?.value,
    }
  }

  #addTexts(report: SenderReport, start: bigint): void {
    for (const field of RUN_FIELDS) {
      const found = report.texts.get(field)
      if (found !== undefined) this.#texts.set(field, better(this.#texts.get(field), { ...found, start }))
    }
    if (report.tags !== undefined) this.#tags = better(this.#tags, { ...report.tags, start })
  }
}

/** A project without what says that it is a name; none if it is only what a sender says where nobody has named one. */
const named = (project: string | undefined): string | undefined => {
  const name = project?.replace(/^project_name:/, '')
  return name === 'default' || name === '' ? undefined : name
}

const better = <T>(one: Clue<T> | undefined, other: Clue<T>): Clue<T> =>
  one === undefined || other.rank < one.rank || (other.rank === one.rank && other.start < one.start) ? other : one

/** A text that says something. */
export const textFrom = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

const METHOD = /^(?:HTTPS? )?(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|CONNECT|TRACE)(?:\s|$)/i
const TRANSPORT =
  /^(?:https?|tcp|tls|dns|net|fs|grpc|undici|fetch|socket|pg|redis|middleware|request handler)(?:[\s.:/-]|$)/i
const EMPTY = /^(?:unnamed|unknown|undefined|null|span|root|trace)$/i

/** Whether the name of a root span says nothing of the work: a request, a connection, a placeholder. */
const isNoiseName = (name: string): boolean => METHOD.test(name) || TRANSPORT.test(name) || EMPTY.test(name)
