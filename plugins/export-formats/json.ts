import { type ExportOptions, exportFormat, type ImportSource, type TraceWriter } from 'guard-gateway/lib/export-format'
import { writeJson } from 'guard-gateway/lib/json'
import type { Artifact, Run, TraceEvent, TreeNode } from 'guard-gateway/lib/trace'
import {
  addToOutlines,
  artifactDraft,
  artifactRecord,
  elementsOf,
  errorAt,
  eventDraft,
  eventRecord,
  type FoundRecord,
  type ImportLocation,
  importReading,
  type JsonElement,
  jsonElements,
  locationInElement,
  memberLocation,
  needSchema,
  RunOutline,
  recordAt,
  runDraft,
  runRecord,
  spanDraft,
  spanRecord,
} from 'guard-gateway/lib/trace-file'

/** Attributes nest 32 levels, from level five of the bundle. */
const MAX_DEPTH = 64

/** The native bundle, trace.v1: the run, its spans depth first with their events, the run's own events, artifacts. */
export const json = exportFormat({
  id: 'json',
  mediaType: 'application/json',
  extension: 'json',
  module: import.meta.url,
  writer: (run, options) => new BundleWriter(run, options),
  accepts: ({ members }) => !members.has('type') && (members.has('schema') || members.has('run')),
  read(file) {
    const outline = new RunOutline()
    readRun(file, outline)
    addToOutlines(recordsOf(file, outline))
    return importReading([outline], () => recordsOf(file, outline))
  },
})

type Section = 'spans' | 'events' | 'artifacts'

class BundleWriter implements TraceWriter {
  readonly #run: Run
  readonly #options: ExportOptions
  #section: Section = 'spans'
  #separator = ''
  #span: TreeNode | null = null
  #eventSeparator = ''

  constructor(run: Run, options: ExportOptions) {
    this.#run = run
    this.#options = options
  }

  begin(): string {
    const { exported_at, generator } = this.#options
    const head = writeJson({ schema: 'trace.v1', exported_at, generator, redacted: true, run: runRecord(this.#run) })
    return `${head.slice(0, -1)},"spans":[`
  }

  span(span: TreeNode): string {
    const before = this.#endSpan() + this.#separator
    this.#separator = ','
    this.#span = span
    return `${before}${writeJson(spanRecord(span)).slice(0, -1)},"events":[`
  }

  event(event: TraceEvent, span: TreeNode | null): string {
    if (span === null) return this.#element('events', eventRecord(event))
    const separator = this.#eventSeparator
    this.#eventSeparator = ','
    return separator + writeJson(eventRecord(event))
  }

  artifact(artifact: Artifact): string {
    return this.#element('artifacts', artifactRecord(artifact))
  }

  end(): string {
    return `${this.#to('artifacts')}]}`
  }

  #element(section: Section, record: object): string {
    const before = this.#to(section) + this.#separator
    this.#separator = ','
    return before + writeJson(record)
  }

  /** Text between the current position and a later section. */
  #to(section: Section): string {
    let between = this.#endSpan()
    for (const [from, next] of following) {
      if (this.#section !== from || this.#section === section) continue
      between += `],"${next}":[`
      this.#section = next
      this.#separator = ''
    }
    return between
  }

  #endSpan(): string {
    if (this.#span === null) return ''
    this.#span = null
    this.#eventSeparator = ''
    return ']}'
  }
}

const following: readonly (readonly [from: Section, next: Section])[] = [
  ['spans', 'events'],
  ['events', 'artifacts'],
]

const lists = { spans: {}, events: {}, artifacts: {} }
const top: ImportLocation = { path: [] }

const isTop = (path: ImportLocation['path']): boolean => path.length === 0

const whereIn = (element: JsonElement) => (place: ImportLocation) => locationInElement(element, place)

/** Reads the fields of the bundle, which may follow the records. */
const readRun = (file: ImportSource, outline: RunOutline): void => {
  for (const element of jsonElements(file, lists, MAX_DEPTH, isTop)) {
    try {
      const bundle = recordAt(element.value, top)
      needSchema(bundle, top)
      // their elements were read separately; this checks that the rest are lists
      for (const member of Object.keys(lists)) elementsOf(bundle, member, top).next()
      const at = memberLocation(top, 'run')
      outline.describe(runDraft(recordAt(bundle.run, at), at), at)
    } catch (error) {
      throw errorAt(error, whereIn(element))
    }
  }
}

function* recordsOf(file: ImportSource, outline: RunOutline): Generator<FoundRecord> {
  for (const element of jsonElements(file, lists, MAX_DEPTH)) {
    const where = whereIn(element)
    try {
      for (const read of readElement(element)) yield { ...read, outline, where }
    } catch (error) {
      throw errorAt(error, where)
    }
  }
}

type Read = FoundRecord extends infer F ? (F extends FoundRecord ? Omit<F, 'outline' | 'where'> : never) : never

function* readElement({ path, value }: JsonElement): Generator<Read> {
  const [list] = path
  if (list === undefined) return
  const place: ImportLocation = { path }
  const record = recordAt(value, place)
  if (list === 'artifacts') yield { kind: 'artifact', record: artifactDraft(record, place), place }
  else if (list === 'events') yield { kind: 'event', record: eventDraft(record, place), place }
  else {
    const span = spanDraft(record, place)
    yield { kind: 'span', record: span, place }
    for (const { record: event, place: at } of elementsOf(record, 'events', place))
      yield { kind: 'event', record: eventDraft(event, at, span.id), place: at }
  }
}
