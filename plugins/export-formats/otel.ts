import { type ExportOptions, exportFormat, type TraceWriter } from 'guard-gateway/lib/export-format'
import { writeJson } from 'guard-gateway/lib/json'
import type { Artifact, Run, TraceEvent, TreeNode } from 'guard-gateway/lib/trace'
import { otlpArtifact, otlpEvent, otlpResource, otlpSpan, readOtlpFile } from '#lib/otlp'

/** OTLP/JSON: one resource, one scope, each record a span or a span event. An import restores the same run. */
export const otel = exportFormat({
  id: 'otel',
  mediaType: 'application/json',
  extension: 'otel.json',
  module: import.meta.url,
  order: 'spans',
  writer: (run, options) => new OtlpWriter(run, options),
  accepts: ({ members }) => members.has('resourceSpans'),
  read: readOtlpFile,
})

class OtlpWriter implements TraceWriter {
  readonly #run: Run
  readonly #options: ExportOptions
  #root: TreeNode | null = null
  #separator = ''
  #eventSeparator = ''

  constructor(run: Run, options: ExportOptions) {
    this.#run = run
    this.#options = options
  }

  begin(): string {
    const { generator } = this.#options
    const resource = writeJson(otlpResource(this.#run))
    const scope = writeJson({ name: generator?.name ?? 'guard-gateway', version: generator?.version })
    return `{"resourceSpans":[{"resource":${resource},"scopeSpans":[{"scope":${scope},"spans":[`
  }

  span(span: TreeNode): string {
    const before = this.#separator
    this.#root ??= span
    this.#separator = ']},'
    this.#eventSeparator = ''
    return `${before}${writeJson(otlpSpan(span, this.#run, this.#options.names)).slice(0, -1)},"events":[`
  }

  event(event: TraceEvent, span: TreeNode | null): string {
    return this.#event(otlpEvent(event, span === null ? 'run' : 'span'))
  }

  /** artifacts without a span belong to the root span */
  artifact(artifact: Artifact, span: TreeNode | null): string {
    const on = span ?? this.#root
    return on === null ? '' : this.#event(otlpArtifact(artifact, on, span === null ? 'run' : 'span'))
  }

  end(): string {
    return `${this.#root === null ? '' : ']}'}]}]}]}`
  }

  #event(event: object): string {
    const separator = this.#eventSeparator
    this.#eventSeparator = ','
    return separator + writeJson(event)
  }
}
