import { describe } from 'node:test'
import { cleanUpPostgres, needsPostgres } from './postgres.ts'

/** A suite on every storage that a gateway runs on: what holds on one of them holds on all. */
export const onEachBackend = (name: string, suite: (backend: string) => void): void => {
  for (const backend of ['memory', 'sqlite', 'postgres'])
    describe(`${name}, on ${backend}`, backend === 'postgres' ? needsPostgres : {}, () => {
      if (backend === 'postgres') cleanUpPostgres()
      suite(backend)
    })
}
