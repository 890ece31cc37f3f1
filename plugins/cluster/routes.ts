import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '#lib/json'
import { differencesOf } from './differences.ts'
import type { Instances } from './instances.ts'

const instance = Type.Object({
  id: Type.String(),
  host: Type.String({ description: 'Name of its machine or container' }),
  pid: Type.Integer({ description: 'Its process id there' }),
  version: Type.String(),
  started_at: Type.String({ format: 'date-time', description: 'By its own clock' }),
  this_one: Type.Boolean({ description: 'It has answered this request' }),
  facts: Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()]), {
    description: 'Versions of the files that it reads for itself',
  }),
})

const answer = Type.Object({
  shared: Type.Boolean({ description: 'Other gateways may use the same storage' }),
  instances: Type.Array(instance, { description: 'Those that are alive' }),
  differences: Type.Array(Type.String(), { description: 'What should be the same for all and is not' }),
})

/** Which gateways use the storage, below `/api`. */
export const instanceRoutes =
  (instances: Instances, isShared: () => boolean): FastifyPluginAsyncTypebox =>
  async (app) => {
    const schema = { summary: 'List the gateways that share the storage', tags: ['health'], response: { 200: answer } }
    app.get('/instances', { schema }, async () => ({
      shared: isShared(),
      instances: instances.alive.map(({ id, host, pid, version, started_at, facts }) => ({
        ...{ id, host, pid, version },
        started_at: new Date(started_at).toISOString(),
        this_one: id === instances.id,
        facts: { ...facts },
      })),
      differences: [...differencesOf(instances.alive)],
    }))
  }
