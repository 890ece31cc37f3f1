import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { createGuard } from 'guard-gateway/sdk'
import { type IngestServer, ingestServer, named, type SentSpan } from '../../../kit/ingest.ts'

const child = join(import.meta.dirname, '../../../kit/sdk-child.ts')

interface Ended {
  readonly code: number | null
  readonly signal: string | null
  readonly server: IngestServer
}

const run = async (
  test: TestContext,
  way: string,
  onReady: (child: ChildProcess) => void = () => {},
  prepare: (server: IngestServer) => void = () => {},
): Promise<Ended> => {
  const server = await ingestServer()
  test.after(() => server.close())
  prepare(server)
  const started = spawn(process.execPath, ['--conditions=guard-source', child, server.url, way], { stdio: 'pipe' })
  test.after(() => started.kill('SIGKILL'))
  started.stdout.once('data', () => onReady(started))
  started.stderr.resume()
  const [code, signal] = (await once(started, 'exit')) as [number | null, string | null]
  return { code, signal, server }
}

/** Asserts that all spans of both guards are stored and ended. */
const isWhole = (server: IngestServer, endedBy: string): void => {
  const run = [...server.runs.values()].find(({ fields }) => fields.name === 'job')
  assert.ok(run)
  assert.equal(run.fields.status, 'cancelled')
  for (const name of ['agent.run', 'open', 'by hand']) {
    const span: SentSpan = named(run.spans, name)
    assert.equal(span.status, 'cancelled')
    assert.equal(span.attributes?.['sdk.ended_by'], endedBy)
    assert.ok(span.end_ns)
  }
  assert.equal(named(run.spans, 'done').status, 'ok')
  const other = [...server.runs.values()].find(({ fields }) => fields.project_id === 'other')
  assert.equal(other?.fields.status, 'cancelled')
}

describe('at process exit', { concurrency: 2 }, () => {
  it('by return, open spans are cancelled and sent, and the exit code is unchanged', async (test) => {
    const { code, signal, server } = await run(test, 'return')
    assert.deepEqual({ code, signal }, { code: 3, signal: null })
    isWhole(server, 'beforeExit')
  })

  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    it(`by ${name}, spans are sent before the signal takes effect`, async (test) => {
      const { code, signal, server } = await run(test, 'wait', (process) => process.kill(name))
      assert.deepEqual({ code, signal }, { code: null, signal: name })
      isWhole(server, name)
    })
  }

  it('by a second signal, the process ends at once', async (test) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const received = Promise.withResolvers<IngestServer>()
    const { signal, server } = await run(
      test,
      'wait',
      (process) => {
        process.kill('SIGINT')
        void received.promise.then((server) => server.received(1)).then(() => process.kill('SIGINT'))
      },
      (server) => {
        server.always({ until: promise })
        received.resolve(server)
      },
    )
    assert.equal(signal, 'SIGINT')
    assert.equal(server.runs.size, 0)
    resolve()
  })

  it('by a signal that the application handles, the guard sends and the application ends the process', async (test) => {
    const { code, signal, server } = await run(test, 'listen', (process) => process.kill('SIGTERM'))
    assert.deepEqual({ code, signal }, { code: 4, signal: null })
    isWhole(server, 'SIGTERM')
    assert.ok([...server.runs.values()].some(({ fields }) => fields.name === 'afterwards'))
  })

  it('by process.exit() after close(), nothing is missing', async (test) => {
    const { code, server } = await run(test, 'close')
    assert.equal(code, 5)
    isWhole(server, 'close')
  })

  it('without a response from the gateway, the process ends with its exit code', async (test) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { code, server } = await run(
      test,
      'return',
      () => {},
      (server) => server.always({ until: promise }),
    )
    assert.equal(code, 3)
    assert.equal(server.runs.size, 0)
    resolve()
  })

  it('by an uncaught exception, the process ends as without the guard', async (test) => {
    const { code, signal } = await run(test, 'throw')
    assert.deepEqual({ code, signal }, { code: 1, signal: null })
  })
})

describe('exit listeners', () => {
  it('are shared by all guards, and removed with the last one', async () => {
    const counts = () => ['beforeExit', 'SIGINT', 'SIGTERM'].map((event) => process.listenerCount(event))
    const before = counts()
    const one = createGuard()
    const two = createGuard()
    createGuard({ handleExit: false })
    createGuard({ enabled: false })
    assert.deepEqual(
      counts(),
      before.map((count) => count + 1),
    )
    await one.close()
    assert.notDeepEqual(counts(), before)
    await two.close()
    assert.deepEqual(counts(), before)
  })
})
