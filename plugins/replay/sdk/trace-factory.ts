import type { Redactor } from 'guard-gateway/redact'
import type { TraceOptions } from './api.ts'
import { GuardUseError, type UseCode } from './errors.ts'
import { isId, isName, isTraceId, newTraceId } from './ids.ts'
import { Recording } from './recording.ts'
import type { Report } from './reports.ts'
import type { Settings } from './settings.ts'
import { boundedText } from './snapshot.ts'
import { type RemoteSpan, readTraceparent } from './trace-context.ts'

/** Defaults of the guard for traces without options of their own. */
export type Defaults = Pick<Settings, 'project' | 'agent' | 'sessionId' | 'live'>

/** Opens traces with their options, or the defaults of the guard. */
export class TraceFactory {
  readonly #defaults: Defaults
  readonly #redactor: Redactor
  readonly #report: Report

  constructor(defaults: Defaults, redactor: Redactor, report: Report) {
    this.#redactor = redactor
    this.#report = report
    this.#defaults = {
      ...defaults,
      project: this.#project(defaults.project),
      sessionId: this.#sessionId(defaults.sessionId),
      agent: this.#id('agent', defaults.agent),
    }
  }

  get defaults(): Defaults {
    return this.#defaults
  }

  open(name: string, options: TraceOptions = {}): Recording {
    const remote = this.#remote(options.traceparent)
    const recording = new Recording(
      {
        trace_id: remote?.trace_id ?? this.#traceId(options.traceId),
        name: boundedText(String(name)),
        project: this.#defaults.project,
        session_id: this.#sessionId(options.sessionId) ?? this.#defaults.sessionId,
        task_id: this.#id('taskId', options.taskId),
        agent: this.#id('agent', options.agent) ?? this.#defaults.agent,
        remote_parent: remote?.span_id,
      },
      this.#defaults.live,
    )
    recording.root.attributeSet.add(options.attributes)
    for (const tag of options.tags ?? []) recording.tags.add(boundedText(String(tag)))
    return recording
  }

  #remote(traceparent: string | undefined): RemoteSpan | undefined {
    if (traceparent === undefined) return undefined
    const remote = readTraceparent(String(traceparent))
    if (remote === undefined) {
      this.#refuse('INVALID_TRACEPARENT', 'traceparent is no W3C trace context, so the trace is a new one.')
    }
    return remote
  }

  #traceId(value: string | undefined): string {
    const id = this.#id('traceId', value)
    if (id === undefined || isTraceId(id)) return id ?? newTraceId()
    this.#refuse(
      'INVALID_ID',
      'traceId is not 1 to 128 of A-Za-z0-9._:@/+=- or a word with a page of its own, so the trace got another id.',
    )
    return newTraceId()
  }

  #sessionId(value: string | undefined): string | undefined {
    const id = this.#id('sessionId', value)
    if (id === undefined || isId(id)) return id
    this.#refuse('INVALID_ID', 'sessionId is not 1 to 128 of A-Za-z0-9._:@/+=-, so it is not sent.')
    return undefined
  }

  #project(value: string | undefined): string | undefined {
    const id = this.#id('project', value)
    if (id === undefined || isName(id)) return id
    this.#refuse('INVALID_ID', 'project is not 1 to 128 of A-Za-z0-9._-, so the traces go to the default project.')
    return undefined
  }

  /** Identifiers are sent whole or not at all. A partly redacted id would identify something else. */
  #id(option: string, value: string | undefined): string | undefined {
    if (value === undefined || value === '') return undefined
    const id = String(value)
    if (this.#redactor.judgeId(id) === 'plain') return id
    this.#refuse('INVALID_ID', `${option} looks like a secret, so it is not sent.`)
    return undefined
  }

  #refuse(code: UseCode, message: string): void {
    this.#report(new GuardUseError(code, message))
  }
}
