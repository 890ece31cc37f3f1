import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { writeJson } from '#lib/json'
import { otlpResource, otlpSpan } from '#lib/otlp'
import { Pace } from '#lib/time-slice'
import type { Run } from '#lib/trace'
import type { EndedSpan } from './ended-spans.ts'
import type { ReceiverOptions } from './receiver-options.ts'

/** Spans per request. */
export const BATCH_SPANS = 512
/** Characters per request, unless a single span has more. */
const BODY_CHARS = 2 * 1024 * 1024

export interface RequestBody {
  /** As its receiver wants it. */
  readonly bytes: Buffer
  /** Of spans or records. */
  readonly count: number
}

export type Compression = NonNullable<ReceiverOptions['compression']>

export const encoders: Readonly<Record<Compression, (text: string) => Promise<Buffer>>> = {
  gzip: promisify(gzip),
  none: async (text) => Buffer.from(text),
}

/** Encodes spans as request bodies, and yields to other work. */
export async function* requestBodies(
  ended: readonly EndedSpan[],
  version: string,
  compression: Compression,
): AsyncGenerator<RequestBody> {
  const pace = new Pace()
  let draft = new Draft(version)
  for (const one of ended) {
    const text = writeJson({ ...otlpSpan(one.span, one.run), events: one.events })
    if (!draft.fits(text)) {
      yield await bodyOf(draft, compression)
      draft = new Draft(version)
    }
    draft.add(one.run, text)
    if (pace.due) await pace.rest()
  }
  if (draft.spans > 0) yield await bodyOf(draft, compression)
}

const bodyOf = async (draft: Draft, compression: Compression): Promise<RequestBody> => ({
  bytes: await encoders[compression](draft.text()),
  count: draft.spans,
})

/** A body under construction: spans by the resource of their run. */
class Draft {
  readonly #scope: string
  readonly #runs = new Map<Run, string[]>()
  #spans = 0
  #chars = 0

  constructor(version: string) {
    this.#scope = writeJson({ name: 'guard-gateway', version })
  }

  get spans(): number {
    return this.#spans
  }

  fits({ length }: string): boolean {
    return this.#spans === 0 || (this.#spans < BATCH_SPANS && this.#chars + length <= BODY_CHARS)
  }

  add(run: Run, text: string): void {
    const texts = this.#runs.get(run)
    if (texts === undefined) this.#runs.set(run, [text])
    else texts.push(text)
    this.#spans++
    this.#chars += text.length
  }

  text(): string {
    const groups = Array.from(this.#runs, ([run, spans]) => {
      const scoped = `{"scope":${this.#scope},"spans":[${spans.join(',')}]}`
      return `{"resource":${writeJson(otlpResource(run))},"scopeSpans":[${scoped}]}`
    })
    return `{"resourceSpans":[${groups.join(',')}]}`
  }
}
