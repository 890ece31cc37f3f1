import { exportFormat, type TraceWriter } from 'guard-gateway/lib/export-format'
import { writeJson } from 'guard-gateway/lib/json'

/** Trace events for about:tracing in Chromium and for ui.perfetto.dev. Times are in microseconds. */
export const chromeTrace = exportFormat({
  id: 'chrome_trace',
  mediaType: 'application/json',
  extension: 'chrome.json',
  writer: (run) => new ChromeWriter(run.start_ns),
})

class ChromeWriter implements TraceWriter {
  readonly #start: bigint
  #count = 0

  constructor(start: bigint) {
    this.#start = start
  }

  begin(): string {
    return '{"traceEvents":['
  }

  span({ name, kind, start_ns, end_ns, attributes }: Parameters<TraceWriter['span']>[0]): string {
    const end = end_ns === null ? {} : { dur: micro(end_ns - start_ns) }
    return this.#next({
      name,
      cat: kind,
      ph: end_ns === null ? 'B' : 'X',
      ts: this.#at(start_ns),
      ...end,
      args: attributes,
    })
  }

  event({ name, severity, time_ns, attributes }: Parameters<TraceWriter['event']>[0]): string {
    return this.#next({ name, cat: severity, ph: 'i', s: 't', ts: this.#at(time_ns), args: attributes })
  }

  /** The format has no artifacts. */
  artifact(): string {
    return ''
  }

  end(): string {
    return ']}\n'
  }

  #next(event: object): string {
    return `${this.#count++ === 0 ? '' : ',\n'}${writeJson({ pid: 1, tid: 1, ...event })}`
  }

  #at(time: bigint): number {
    return micro(time - this.#start)
  }
}

const micro = (ns: bigint): number => Number(ns) / 1000
