import { type Change, type Gateway, GuardError, type Recording, type Session, type Settled } from 'guard-gateway/core'
import { type CallRecord, traceOf } from 'guard-gateway/lib/trace'
import { firstAlone } from './first-record.ts'
import type { LateTotals } from './late-totals.ts'
import { type Previews, requestPreview, responsePreview } from './preview.ts'
import { callRecord } from './rows.ts'

export interface RecorderOptions {
  /** Keep redacted previews of requests and replies. */
  readonly full_content_logging?: boolean
}

/** Records settled calls: one write each, resolved when it is durable; it waits for a disk that is full. Rejects if it could not be written. */
export const settler = (gateway: Gateway, totals: LateTotals, { full_content_logging = false }: RecorderOptions) => {
  /** Blocked requests that are being recorded: their repetitions, which may come meanwhile, are counted on that record. */
  const blocks = new Map<string, Promise<void>>()
  const lateOnes = new Set<Promise<void>>()
  const inTurn = firstAlone()

  const write = (settled: Settled, record: CallRecord, attempt: number): Promise<void> => {
    const { session } = settled.call
    // the row of a call also stands for its decision in the session's history
    const batch: Change[] = [{ table: 'calls', put: record }]
    let change: Change | undefined
    const commit = (): Promise<boolean> => {
      if (session !== null) change = attempt === 0 ? totals.with(session, settled) : totals.now(session)
      if (change !== undefined) batch.push(change)
      return gateway.storage.write(batch, { hold: true, onRefused: () => late(settled, record, attempt + 1) })
    }
    const added = addedTo(gateway, { settled, record, attempt, batch })
    const writing = added === undefined ? commit() : added.then(commit)
    return writing.then((written) => {
      if (!written) return again(settled, record, attempt + 1)
      if (session !== null && change !== undefined) totals.stored(session, change)
      return undefined
    })
  }

  /** The same where the client was answered meanwhile. */
  const late = (settled: Settled, record: CallRecord, attempt: number): Promise<void> => {
    const writing = again(settled, record, attempt)
      .catch((error: unknown) => gateway.fault(error, 'recorder:late'))
      .finally(() => lateOnes.delete(writing))
    lateOnes.add(writing)
    return writing
  }

  /** Something has changed meanwhile that the write builds on. */
  const again = async (settled: Settled, record: CallRecord, attempt: number): Promise<void> => {
    const { id, session } = settled.call
    if (attempt === ATTEMPTS)
      throw new GuardError(
        'STORAGE_BUSY',
        `Request ${id} could not be recorded: its session or its trace changed at the same time.`,
      )
    await lookFor(gateway, session)
    await write(settled, record, attempt)
  }

  const begin = (settled: Settled, previews: Previews): Promise<void> => {
    const continues = gateway.apiStyles.get(settled.call.style)?.continues === true
    return write(settled, callRecord(settled, gateway.redact, previews, continues), 0)
  }

  const record = (settled: Settled): Promise<void> => {
    const writeWith = (previews: Previews) => inTurn(settled.call.session, () => begin(settled, previews))
    return full_content_logging ? previewsOf(gateway, settled).then(writeWith) : writeWith(NO_PREVIEWS)
  }

  const recorded = (settled: Settled): Promise<void> => {
    const { call, decision } = settled
    const writing = record(settled)
    if (decision.decision !== 'block') return writing
    blocks.set(call.id, writing)
    return writing.finally(() => blocks.delete(call.id))
  }

  const repeated = async (settled: Settled, first: string): Promise<void> => {
    await blocks.get(first)?.catch(() => {})
    if (!(await countRepeat(gateway, totals, settled, first))) await recorded(settled)
  }

  return {
    record: (settled: Settled): Promise<void> => {
      const { repeats } = settled.decision
      return repeats === null ? recorded(settled) : repeated(settled, repeats)
    },
    /** Resolves when every record is where it belongs. */
    end: async (): Promise<void> => {
      do {
        await gateway.storage.flush()
        await Promise.all(lateOnes)
      } while (lateOnes.size > 0)
    },
  }
}

/** Others may write the session or the trace meanwhile. */
const ATTEMPTS = 6
const NO_PREVIEWS: Previews = { request: null, response: null }

/** Lets others add to what commits with a call; undefined if they did so at once: each promise on the way of a request costs. */
const addedTo = (gateway: Gateway, recording: Recording): Promise<void> | undefined => {
  let isAdded = false
  let failure: unknown
  let end = (error: unknown): void => {
    isAdded = true
    failure = error
  }
  gateway.hooks.record.callAsync(recording, (error) => end(error))
  if (isAdded) return failure ? Promise.reject(failure) : undefined
  return new Promise((resolve, reject) => {
    end = (error) => (error ? reject(error) : resolve())
  })
}

/** Finds out whether a session's row is there at this moment: others may have put or removed it. */
const lookFor = async (gateway: Gateway, session: Session | null): Promise<void> => {
  if (session !== null) session.stored = (await gateway.storage.get('sessions', session.row.id)) !== undefined
}

/** Counts an identical blocked request on the record of the first one; false if that is not on record. */
const countRepeat = (gateway: Gateway, totals: LateTotals, { call }: Settled, first: string): Promise<boolean> =>
  gateway.storage.exclusive('calls', first, async (read) => {
    const record = await read.get('calls', first)
    if (record === undefined) return [false, []]
    const trace = traceOf(record)
    if (trace !== undefined) call.trace = trace
    const patch = { retries: record.retries + 1, last_at: call.at, last_request_id: call.id }
    const batch: Change[] = [{ table: 'calls', key: first, patch }]
    const { session } = call
    if (session !== null && (await read.get('sessions', session.row.id)) !== undefined) {
      session.stored = true
      batch.push(totals.now(session))
    }
    return [true, batch]
  })

/** A preview that fails is a fault, never a lost record. */
const previewsOf = async (gateway: Gateway, settled: Settled): Promise<Previews> => {
  const style = gateway.apiStyles.get(settled.call.style)
  try {
    return {
      request: style === undefined ? null : await requestPreview(settled.call, style, gateway.redact),
      response: responsePreview(settled, gateway.redact),
    }
  } catch (error) {
    gateway.fault(error, 'recorder:preview')
    return NO_PREVIEWS
  }
}
