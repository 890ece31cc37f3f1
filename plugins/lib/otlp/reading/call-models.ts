import { instantOf, type OtlpSpan } from '../span-record.ts'
import { UNLISTED } from './meanings.ts'
import type { SenderReport } from './sender-attributes.ts'

interface Known {
  readonly parent: string | null
  readonly model: string | undefined
}

interface Begun {
  readonly start: bigint
  readonly model: string
}

/** How far up a model is looked for. */
const MAX_STEPS = 64

/** The models that the spans of a trace name, for calls that name none. */
export class CallModels {
  readonly #spans = new Map<string, Known>()
  /** Models by when spans that name them began. */
  readonly #begun: Begun[] = []

  /** Adds a span of a sender whose models stand elsewhere. Throws ImportFault. */
  add({ spanId, parentId, record, place }: OtlpSpan, report: SenderReport): void {
    if (report.sender?.model_elsewhere !== true || this.#spans.has(spanId)) return
    const model = report.texts.get('model')?.value
    this.#spans.set(spanId, { parent: parentId, model })
    if (model !== undefined) this.#begun.push({ start: instantOf(record, 'startTimeUnixNano', place) ?? 0n, model })
  }

  /** What a span tells, with the model of the nearest span around it, or of the last one before it, if it is a call that names none. */
  completed({ parentId, record, place }: OtlpSpan, report: SenderReport): SenderReport {
    const model = this.#around(parentId) ?? this.#before(instantOf(record, 'startTimeUnixNano', place) ?? 0n)
    return model === undefined
      ? report
      : { ...report, texts: new Map(report.texts).set('model', { rank: UNLISTED, value: model }) }
  }

  #around(parentId: string | null): string | undefined {
    let at = parentId
    for (let steps = 0; at !== null && steps < MAX_STEPS; steps++) {
      const span = this.#spans.get(at)
      if (span?.model !== undefined) return span.model
      at = span?.parent ?? null
    }
    return undefined
  }

  #before(start: bigint): string | undefined {
    let last: Begun | undefined
    for (const one of this.#begun) if (one.start <= start && (last === undefined || one.start >= last.start)) last = one
    return last?.model
  }
}

/** Whether a span is a call whose model stands elsewhere. */
export const lacksModel = ({ sender, usage, texts }: SenderReport): boolean =>
  sender?.model_elsewhere === true && usage.size > 0 && !texts.has('model') && !texts.has('response_model')
