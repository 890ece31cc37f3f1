import { describe } from 'node:test'
import { cleanUpPostgres, needsPostgres } from './postgres.ts'

/** `npm test` starts no server; the system part runs these suites on PostgreSQL alone. */
const backends = { fast: ['memory', 'sqlite'], system: ['postgres'], both: ['memory', 'sqlite', 'postgres'] }
const part = (process.env.GUARD_TEST_PART ?? 'both') as keyof typeof backends

/** A suite on every storage that a gateway runs on: what holds on one of them holds on all. */
export const onEachBackend = (name: string, suite: (backend: string) => void): void => {
  for (const backend of backends[part])
    describe(`${name}, on ${backend}`, backend === 'postgres' ? needsPostgres : {}, () => {
      if (backend === 'postgres') cleanUpPostgres()
      suite(backend)
    })
}
