import { Readable } from 'node:stream'
import type { Gateway } from 'guard-gateway/core'
import { exportFormatKind } from '#lib/export-format'
import { streamTrace } from '#lib/trace-file'
import { runReader } from '../read/run-reader.ts'
import type { Planned } from './plan.ts'
import { openImport } from './reader.ts'
import { spooled } from './spool.ts'

/** Id of a stored run that is the same up to ids: the run that the file was exported from, or another import. */
export const identicalTo = async (
  gateway: Gateway,
  format: string,
  content_digest: string,
  { found, trace_id }: Planned,
  signal: AbortSignal,
): Promise<string | null> => {
  const { storage } = gateway
  const source = found.run.trace_id
  const stored = source === trace_id ? undefined : await storage.get('runs', source)
  if (stored !== undefined) {
    if (stored.content_digest === content_digest) return source
    if ((await digestOf(gateway, format, source, signal)) === content_digest) return source
  }
  const { rows } = await storage.find('runs', { where: { content_digest }, limit: 2 })
  return rows.find((row) => row.trace_id !== trace_id)?.trace_id ?? null
}

/** Digest that an export of a stored run in this format has; undefined where it is not exported. Only imports have stored ones. */
const digestOf = async (
  gateway: Gateway,
  id: string,
  trace_id: string,
  signal: AbortSignal,
): Promise<string | undefined> => {
  const format = gateway.registry(exportFormatKind).get(id)
  if (format === undefined) return undefined
  const run = await runReader(gateway.storage, trace_id)
  const text = Readable.from(streamTrace(format, run), { objectMode: false })
  const file = await spooled(text, undefined, Number.POSITIVE_INFINITY)
  try {
    const reading = await openImport([format], file, '', signal)
    try {
      const slices = reading.slices()
      for (let next = await slices.next(); ; next = await slices.next()) {
        signal.throwIfAborted()
        if (next.done === true) return next.value[0]
      }
    } finally {
      await reading.close()
    }
  } finally {
    await file.close()
  }
}
