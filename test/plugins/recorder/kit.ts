import assert from 'node:assert/strict'
import fastify, { type FastifyError, type FastifyInstance } from 'fastify'
import {
  type Change,
  errorBody,
  Gateway,
  type GatewayOptions,
  type Plugin,
  type Settled,
  type Storage,
  statusOf,
  type WriteOptions,
} from 'guard-gateway/core'
import { responses } from 'guard-gateway/plugins/api-styles/responses'
import { recorder } from 'guard-gateway/plugins/recorder'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { foundation } from 'guard-gateway/presets/foundation'
import { onlySession } from '#lib/session'
import { strictValidation } from '../../../plugins/http/routes.ts'
import { tables } from '../../../plugins/sessions/tables.ts'

/** Only the tables that the recorder shares with the sessions feature. */
const sessionTables: Plugin = {
  name: 'sessions',
  apply: (gateway) => {
    for (const table of tables) gateway.tables.add(table)
    const find = async (id: string) => {
      const row = await gateway.storage.get('sessions', id)
      const named = await gateway.storage.find('sessions', { where: { external_id: id } })
      return row ?? onlySession(id, named.rows)
    }
    gateway.service('sessions').provide({
      find,
      held: (decision) => decision,
      callerOf: async () => ({ project_id: 'default', agent_id: null, external_session_id: null }),
      pauseOf: async () => undefined,
      pause: async () => {},
    })
  },
}

interface Written {
  readonly batch: readonly Change[]
  readonly options: WriteOptions | undefined
}

/** A gateway that keeps records and collects its faults. */
export interface Bench {
  readonly gateway: Gateway
  readonly app: FastifyInstance
  readonly faults: { readonly error: unknown; readonly where: string }[]
  /** Writes as they were handed to the storage. */
  readonly writes: readonly Written[]
  settle(...settled: readonly Settled[]): Promise<void>
  close(): Promise<void>
}

export interface BenchOptions extends GatewayOptions {
  readonly full_content_logging?: boolean
  readonly plugins?: readonly Plugin[]
  /** Memory if absent. */
  readonly backend?: Plugin
}

export const startBench = async ({
  full_content_logging = false,
  plugins = [],
  backend = memory(),
  ...options
}: BenchOptions = {}): Promise<Bench> => {
  const gateway = new Gateway(options).use(
    ...foundation(),
    backend,
    responses,
    ...plugins,
    sessionTables,
    recorder({ full_content_logging }),
  )
  const faults: { error: unknown; where: string }[] = []
  gateway.hooks.fault.tap('test', (error, where) => void faults.push({ error, where }))
  await gateway.open()
  const writes = watched(gateway.storage)
  const app = fastify({ logger: false })
  app.setErrorHandler((error: FastifyError, _request, reply) =>
    reply.code(error.validation === undefined ? statusOf(error) : 400).send({ error: errorBody(error) }),
  )
  await strictValidation(app)
  await gateway.hooks.http.promise(app)
  return {
    gateway,
    app,
    faults,
    writes,
    settle: async (...all) => {
      for (const one of all) await gateway.hooks.settle.promise(one)
    },
    close: async () => {
      await app.close()
      await gateway.close()
    },
  }
}

const watched = (storage: Storage): readonly Written[] => {
  const writes: Written[] = []
  const write = storage.write
  storage.write = (batch, options) => {
    writes.push({ batch, options })
    return write.call(storage, batch, options)
  }
  return writes
}

/** The value, or a failed test where there is none. */
export const present = <T>(value: T | undefined | null): T => {
  assert.ok(value !== undefined && value !== null)
  return value
}
