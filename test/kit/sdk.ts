import type { TestContext } from 'node:test'
import {
  createGuard,
  type Guard,
  type GuardIngestError,
  type GuardOptions,
  type GuardUseError,
} from 'guard-gateway/sdk'
import { type IngestServer, ingestServer } from './ingest.ts'

/** A guard in front of an ingest server, and what it reported. */
export interface GuardedTest {
  readonly guard: Guard
  readonly server: IngestServer
  readonly errors: (GuardIngestError | GuardUseError)[]
  readonly codes: () => readonly string[]
}

/** Starts both for one test and ends both after it. The flush timer is far away: what is sent is sent because the test says so. */
export const guarded = async (test: TestContext, options: GuardOptions = {}): Promise<GuardedTest> => {
  const server = await ingestServer()
  const errors: (GuardIngestError | GuardUseError)[] = []
  const guard = createGuard({
    baseUrl: server.url,
    project: 'demo',
    flushMs: 3_600_000,
    handleExit: false,
    onError: (error) => errors.push(error as GuardIngestError | GuardUseError),
    ...options,
  })
  test.after(async () => {
    server.always({})
    await guard.close()
    await server.close()
  })
  return { guard, server, errors, codes: () => errors.map((error) => error.code) }
}
