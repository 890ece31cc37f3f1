import { basename } from 'node:path'
import type { Attributes } from 'guard-gateway/core'
import type { ImportContext } from '#lib/export-format'
import { sha256 } from '#lib/ids'
import type { JsonObject } from '#lib/json'
import type { ConvertedSpan } from '../converted-file.ts'
import { otlpAttributes, otlpSpanJson, type SpanParts } from '../span-json.ts'
import { MAIN, type Recorded, type SessionCall, type SessionHead, type SessionReply } from './entries.ts'

/** The spans of recorded sessions, named as the gateway names those of proxied ones, so that both compare. */
export function* sessionSpans(entries: Iterable<Recorded>, context: ImportContext): Generator<ConvertedSpan> {
  const sessions = new Map<SessionHead, SessionTrace>()
  for (const { head, entry } of entries) {
    let session = sessions.get(head)
    if (session === undefined) {
      session = new SessionTrace(head, context)
      sessions.set(head, session)
    }
    yield* session.add(entry)
  }
  for (const session of sessions.values()) yield* session.end()
}

/** The trace id of a run: the id of its session where that is a UUID. */
export const traceIdOf = ({ run, agent }: Pick<SessionHead, 'run' | 'agent'>): string => {
  const digits = run.replaceAll('-', '').toLowerCase()
  return /^[0-9a-f]{32}$/.test(digits) && !/^0+$/.test(digits) ? digits : sha256(`${agent}:${run}`).slice(0, 32)
}

interface ThreadSpan {
  readonly id: string
  readonly line: number
  readonly start_ns: bigint
  end_ns: bigint
  parent_id: string | undefined
  name: string | undefined
  failed: string | undefined
}

interface OpenCall {
  readonly call: SessionCall
  readonly parent_id: string
  readonly id: string
  readonly line: number
}

class SessionTrace {
  readonly #head: SessionHead
  readonly #context: ImportContext
  readonly #trace_id: string
  readonly #resource: JsonObject
  readonly #scope: JsonObject
  readonly #threads = new Map<string, ThreadSpan>()
  readonly #calls = new Map<string, OpenCall>()
  /** Ids of the spans of calls, which subagents hang from. */
  readonly #spawns = new Map<string, { readonly parent_id: string; readonly name: string | undefined }>()

  constructor(head: SessionHead, context: ImportContext) {
    this.#head = head
    this.#context = context
    this.#trace_id = traceIdOf(head)
    const project = basename((head.folder ?? '').replaceAll('\\', '/'))
    this.#resource = otlpAttributes({
      'service.name': head.agent,
      'service.version': head.version,
      'guard.project.id': project === '' ? undefined : project,
    })
    this.#scope = { name: head.agent, ...(head.version === undefined ? {} : { version: head.version }) }
  }

  *add(entry: Recorded['entry']): Generator<ConvertedSpan> {
    const thread = this.#thread(entry)
    if (entry.type === 'reply') {
      thread.failed = entry.error?.type
      yield this.#reply(entry, thread)
      const parent_id = this.#id('reply', entry.id)
      for (const call of entry.calls)
        this.#calls.set(call.id, { call, parent_id, id: this.#id('call', call.id), line: entry.line })
    } else if (entry.type === 'result') {
      const open = this.#calls.get(entry.call_id)
      if (open === undefined) return
      this.#calls.delete(entry.call_id)
      yield this.#call(open, entry.at_ns, entry.failed ? null : undefined)
    } else if (entry.type === 'spawn')
      this.#spawns.set(entry.spawned, { parent_id: this.#id('call', entry.call_id), name: entry.agent_name })
  }

  /** What is still open, then the root and the subagents. */
  *end(): Generator<ConvertedSpan> {
    const { start_ns, end_ns, line } = extentOf([...this.#threads.values()])
    for (const open of this.#calls.values()) yield this.#call(open, end_ns, 'The session ends before a result came.')
    const failed = this.#threads.get(MAIN)?.failed
    yield this.#span(line, {
      span_id: this.#root,
      name: 'agent.run',
      start_ns,
      end_ns,
      ...(failed === undefined ? {} : { error: failed }),
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': this.#head.agent,
        'session.id': this.#head.session_id,
        'error.type': failed,
      },
    })
    // the run is named after the first agent
    for (const [name, thread] of this.#threads) if (name !== MAIN) yield this.#agent(name, thread)
  }

  get #root(): string {
    return this.#id('session', this.#head.run)
  }

  #id(kind: string, id: string): string {
    return sha256(`${this.#head.run}:${kind}:${id}`).slice(0, 16)
  }

  #thread({ thread: name, at_ns, line }: Recorded['entry']): ThreadSpan {
    const known = this.#threads.get(name)
    if (known !== undefined) {
      if (at_ns > known.end_ns) known.end_ns = at_ns
      return known
    }
    const id = name === MAIN ? this.#root : this.#id('thread', name)
    const made = { id, line, start_ns: at_ns, end_ns: at_ns, parent_id: undefined, name: undefined, failed: undefined }
    this.#threads.set(name, made)
    return made
  }

  #span(line: number, span: Omit<SpanParts, 'trace_id'>): ConvertedSpan {
    const json = otlpSpanJson({ trace_id: this.#trace_id, ...span })
    return { resource: this.#resource, scope: this.#scope, span: json, line, path: [] }
  }

  #reply(entry: SessionReply, thread: ThreadSpan): ConvertedSpan {
    const { at_ns, started_ns, error } = entry
    return this.#span(entry.line, {
      span_id: this.#id('reply', entry.id),
      parent_id: thread.id,
      name: 'gen_ai.request',
      kind: 3,
      start_ns: started_ns < at_ns ? started_ns : at_ns,
      end_ns: at_ns,
      ...(error === undefined ? {} : { error: error.type }),
      attributes: replyAttributes(entry, this.#head),
    })
  }

  #call({ call, parent_id, id, line }: OpenCall, end_ns: bigint, error: string | null | undefined): ConvertedSpan {
    return this.#span(line, {
      span_id: id,
      parent_id,
      name: 'tool.call',
      start_ns: call.at_ns < end_ns ? call.at_ns : end_ns,
      end_ns,
      ...(error === undefined ? {} : { error }),
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': call.tool,
        'gen_ai.tool.call.id': call.id,
        'guard.argument_hash': this.#context.argumentHash(call.args),
        'error.type': error === null ? 'tool_error' : undefined,
      },
    })
  }

  #agent(thread: string, { id, line, start_ns, end_ns, failed }: ThreadSpan): ConvertedSpan {
    const spawn = this.#spawns.get(thread)
    return this.#span(line, {
      span_id: id,
      parent_id: spawn?.parent_id ?? this.#root,
      name: 'invoke_agent',
      start_ns,
      end_ns,
      ...(failed === undefined ? {} : { error: failed }),
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': spawn?.name ?? 'subagent',
        'guard.subagent.id': thread,
        'error.type': failed,
      },
    })
  }
}

/** The time that threads take together, and the line on which the first begins. */
const extentOf = (threads: readonly ThreadSpan[]): Pick<ThreadSpan, 'start_ns' | 'end_ns' | 'line'> => {
  const starts = threads.map(({ start_ns }) => start_ns)
  const ends = threads.map(({ end_ns }) => end_ns)
  return {
    start_ns: starts.reduce((a, b) => (b < a ? b : a)),
    end_ns: ends.reduce((a, b) => (b > a ? b : a)),
    line: threads[0]?.line ?? 1,
  }
}

const replyAttributes = (entry: SessionReply, { provider }: SessionHead): Attributes => {
  const { usage, error, finish } = entry
  const cached = (usage?.cache_read_tokens ?? 0) + (usage?.cache_write_tokens ?? 0)
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': provider,
    'gen_ai.request.model': entry.requested_model ?? entry.model,
    'gen_ai.response.model': entry.model,
    'gen_ai.response.id': entry.response_id,
    'gen_ai.response.finish_reasons': finish === undefined ? undefined : [finish],
    'gen_ai.response.service_tier': entry.service_tier,
    'gen_ai.usage.input_tokens': usage === undefined ? undefined : usage.input_tokens + cached,
    'gen_ai.usage.output_tokens': usage?.output_tokens,
    'gen_ai.usage.cache_read.input_tokens': usage?.cache_read_tokens,
    'gen_ai.usage.cache_creation.input_tokens': usage?.cache_write_tokens,
    'guard.usage.cache_creation_1h.input_tokens': usage?.cache_write_1h_tokens || undefined,
    'gen_ai.usage.reasoning.output_tokens': usage?.reasoning_tokens || undefined,
    'gen_ai.usage.cost': entry.cost,
    'error.type': error?.type,
    'http.response.status_code': error?.status,
  }
}
