import type { FastifyReply } from 'fastify'
import { type Gateway, GuardError } from 'guard-gateway/core'
import { exportFormatKind, importFormatKind } from '#lib/export-format'
import { KeyedQueue } from '#lib/keyed-queue'
import { argumentKey } from '#lib/trace'
import type { RunWriter } from '../write/run-writer.ts'
import type { ImportAnswer } from './import.ts'
import type { ImportOptions } from './plan.ts'
import type { Spooled } from './spool.ts'

/** Limit of waiting files, each on disk. */
const MAX_WAITING = 4

/** Imports one file at a time. */
export class Imports {
  readonly max_bytes: number
  readonly #gateway: Gateway
  readonly #runWriter: RunWriter
  readonly #queue = new KeyedQueue()
  readonly #closing = new AbortController()
  #taken = 0

  constructor(gateway: Gateway, runWriter: RunWriter, max_bytes: number) {
    this.#gateway = gateway
    this.#runWriter = runWriter
    this.max_bytes = max_bytes
  }

  /** Imports and closes a file. It stops without storing anything when the client disconnects or the gateway closes. `parameters`: options from query or form. Throws OVERLOADED if too many files wait. */
  async take(file: Spooled, parameters: Readonly<Record<string, unknown>>, reply: FastifyReply): Promise<ImportAnswer> {
    try {
      const { readImportOptions } = await import('./options.ts')
      return await this.#inTurn(file, readImportOptions(parameters), reply)
    } finally {
      await file.close()
    }
  }

  async #inTurn(file: Spooled, options: ImportOptions, reply: FastifyReply): Promise<ImportAnswer> {
    if (this.#taken > MAX_WAITING)
      throw new GuardError('OVERLOADED', `${MAX_WAITING} imports are waiting already. Try again when they are done.`)
    this.#taken++
    const leaving = new AbortController()
    const left = (): void => {
      if (!reply.raw.writableFinished) leaving.abort(new GuardError('INVALID_BODY', 'The client has left.'))
    }
    reply.raw.once('close', left)
    const signal = AbortSignal.any([leaving.signal, this.#closing.signal])
    try {
      return await this.#queue.run('import', () => this.#import(file, options, signal))
    } finally {
      this.#taken--
      reply.raw.off('close', left)
    }
  }

  async #import(spooled: Spooled, options: ImportOptions, signal: AbortSignal): Promise<ImportAnswer> {
    const [{ openImport }, { importRuns }] = await Promise.all([import('./reader.ts'), import('./import.ts')])
    signal.throwIfAborted()
    const formats = [...this.#gateway.registry(importFormatKind), ...this.#gateway.registry(exportFormatKind)]
    const file = await openImport(formats, spooled, await argumentKey(this.#gateway.storage), signal)
    try {
      return await importRuns(this.#gateway, this.#runWriter, file, options, signal)
    } finally {
      await file.close()
    }
  }

  /** Aborts the running import. */
  close(): void {
    this.#closing.abort(new GuardError('SHUTTING_DOWN'))
  }
}
