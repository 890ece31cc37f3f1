import {
  type ArtifactDraft,
  contribution,
  type EventDraft,
  Kind,
  type RunDraft,
  type SpanDraft,
  type Usage,
} from 'guard-gateway/core'
import type { Artifact, Run, TraceEvent, TreeNode } from '#lib/trace'

/** How a trace is written; each is optional and a format ignores what it has no place for. */
export interface ExportOptions {
  /** RFC 3339. */
  readonly exported_at?: string
  readonly generator?: { readonly name: string; readonly version: string }
  /** `semconv`: spans are named as the GenAI semantic conventions want it. */
  readonly names?: 'native' | 'semconv'
}

/** Writes one run, a record at a time; what its functions return, put together in the order of their calls, is the file. */
export interface TraceWriter {
  begin(): string
  span(span: TreeNode): string
  /** `span` is null for an event of the run itself. */
  event(event: TraceEvent, span: TreeNode | null): string
  /** `span` is the one behind which it stands in the order `spans`, null for one that belongs to none that is there. */
  artifact(artifact: Artifact, span: TreeNode | null): string
  end(): string
}

/** A file that is read in pieces, as often as its reader wants; never held whole but to say where its JSON is broken. */
export interface ImportSource {
  /** The bytes, without the byte order mark that some editors put first; each call starts over. */
  chunks(): Iterable<Uint8Array>
  /** Names of the members of the JSON object that the file begins with, as far as they can be read; none if it begins otherwise. */
  readonly members: ReadonlySet<string>
  /** All of it. Throws INVALID_IMPORT for bytes that are no text. */
  text(): string
}

/** A form in which runs leave and enter, selected by `?format=`; on import by what `accepts` says of the file. */
export interface ExportFormat {
  readonly id: string
  readonly mediaType: string
  /** Without a leading dot: `json`, `otel.json`. */
  readonly extension: string
  /** Address of a module that exports this format (`import.meta.url`): large files are then read in a thread of their own. */
  readonly module?: string
  /**
   * The order in which a writer gets the records. `records`, if absent: the spans depth first, each followed by its events;
   * then the events of the run; then the artifacts. `spans`: artifacts follow the events of their span, and what belongs to no
   * span follows what belongs to the root.
   */
  readonly order?: 'records' | 'spans'
  /** A new writer of one run, which is never held whole. */
  writer(run: Run, options: ExportOptions): TraceWriter
  /** Whether a file looks like this format; cheap, and true for a damaged one as well, so that `read` can say what is wrong. */
  accepts?(file: ImportSource): boolean
  /** Looks a file of this format through, to its end; throws GuardError with line and JSON pointer. No record is held. */
  read?(file: ImportSource): ImportReading
}

/** A run that a file holds, without its records. */
export interface ImportedRun {
  readonly run: RunDraft
  readonly spans: number
  readonly events: number
  readonly artifacts: number
}

/** One record of an import file; `run` is the place of its run in `ImportReading.runs`, `parent` that of what it hangs from among the spans of the run, in the order of the file. */
export type ImportedRecord =
  | { readonly kind: 'span'; readonly run: number; readonly parent: number | null; readonly record: SpanDraft }
  | { readonly kind: 'event'; readonly run: number; readonly parent: number | null; readonly record: EventDraft }
  | { readonly kind: 'artifact'; readonly run: number; readonly parent: number | null; readonly record: ArtifactDraft }

/** Something that was taken in otherwise than the file says it. */
export interface ImportWarning {
  readonly code:
    | 'orphan_parent'
    | 'content_dropped'
    | 'attributes_dropped'
    | 'line_ignored'
    | 'duplicate_dropped'
    | 'nothing_found'
  readonly message: string
  readonly line?: number
  /** JSON pointer; in the line's record where the format has lines. */
  readonly path?: string
}

/** A file in which nothing is wrong. */
export interface ImportReading {
  readonly runs: readonly ImportedRun[]
  readonly warnings: readonly ImportWarning[]
  /** All records, in the order of the file, read once more. */
  records(): Iterable<ImportedRecord>
}

/** What reading depends on beside the file. */
export interface ImportContext {
  /** Hash of a tool call's arguments under the key of this installation, as recorded tool calls have it. */
  argumentHash(args: unknown): string
}

/** A model request as an agent made it, rebuilt from what it recorded, and what came of it. */
export interface RebuiltRequest {
  readonly session_id: string
  readonly agent: string
  /** Id of the API style of `body`. */
  readonly style: string
  /** The conversation up to this request, without system prompt and tools. */
  readonly body: Buffer
  /** Milliseconds since 1970. */
  readonly at: number
  readonly ended_at: number
  readonly model: string
  /** Undefined where it was not recorded. */
  readonly usage: Usage | undefined
  /** US dollars, as recorded. */
  readonly cost: number | undefined
  readonly response_id: string | null
  readonly calls: readonly { readonly id: string; readonly tool: string; readonly args: unknown }[]
  /** Words of the reply. */
  readonly text: string
  /** The reply reasoned, and held neither a word nor a call. */
  readonly wordless: boolean
  /** Why there was no reply. */
  readonly error: { readonly type: string; readonly status: number | undefined } | undefined
}

/** A form in which other programs keep what agents did; it is read and never written. Import formats are asked before export formats. */
export interface ImportFormat {
  readonly id: string
  /** What writes such files, for errors and documents: `Jaeger`. */
  readonly title: string
  /** Address of a module that exports this format (`import.meta.url`): large files are then read in a thread of their own. */
  readonly module?: string
  /** Whether a file looks like this format; cheap, and true for a damaged one as well, so that `read` can say what is wrong. */
  accepts(file: ImportSource): boolean
  /** Looks a file of this format through, to its end; throws GuardError with line and JSON pointer. No record is held. */
  read(file: ImportSource, context: ImportContext): ImportReading
  /** The model requests of a file that holds conversations, in its order. Throws as `read`. */
  requests?(file: ImportSource): Iterable<RebuiltRequest>
}

export const importFormatKind = new Kind<ImportFormat>('import format', {
  title: 'text',
  accepts: 'prompt',
  read: 'prompt',
  'requests?': 'prompt',
})

/** A form in which other programs keep what agents did. */
export const importFormat = contribution('import-format', importFormatKind)

export const exportFormatKind = new Kind<ExportFormat>('export format', {
  mediaType: 'text',
  extension: 'text',
  writer: 'prompt',
  'accepts?': 'prompt',
  'read?': 'prompt',
})

/** A form in which runs are exported, and perhaps imported; its id chooses it. */
export const exportFormat = contribution('export-format', exportFormatKind)
