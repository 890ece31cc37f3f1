import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { apiStyle, errorOrigin, Gateway } from 'guard-gateway/core'
import { messages } from 'guard-gateway/plugins/api-styles/messages'
import { jsonl } from 'guard-gateway/plugins/export-formats/jsonl'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { foundation } from 'guard-gateway/presets/foundation'
import { aTrace, FakeProvider, startGateway } from 'guard-gateway/test'
import { exportFormat } from '#lib/export-format'
import { readRequest } from '#lib/request-reader'
import { writeTrace } from '#lib/trace-file'

const boom = (): never => {
  throw new Error('boom')
}

const thrownIn = async (work: () => unknown): Promise<string | undefined> => {
  try {
    await work()
  } catch (error) {
    return errorOrigin(error)
  }
  throw new Error('nothing was thrown')
}

describe('which plugin threw an error', () => {
  const tapped = (tap: (gateway: Gateway) => void): Gateway => {
    const gateway = new Gateway().use(...foundation(), memory())
    tap(gateway)
    return gateway
  }

  it('is known of a tap that throws, rejects or never calls back', async () => {
    const throws = tapped(({ hooks }) => hooks.open.tap('mine', boom))
    assert.equal(await thrownIn(() => throws.open()), 'open:mine')
    const rejects = tapped(({ hooks }) => hooks.open.tapPromise('mine', async () => boom()))
    assert.equal(await thrownIn(() => rejects.open()), 'open:mine')
    const early = tapped(({ hooks }) => hooks.open.tapAsync('mine', boom))
    assert.equal(await thrownIn(() => early.open()), 'open:mine')
  })
  it('is known of a plugin that cannot be applied', async () => {
    assert.equal(await thrownIn(() => new Gateway().use({ name: 'mine', apply: boom })), 'apply:mine')
  })
  it('is the one that is nearest to the fault', async () => {
    const gateway = tapped(({ hooks }) => {
      hooks.trace.tap('mine', boom)
      hooks.open.tapPromise('other', async () => void (await hooks.trace.promise({} as never)))
    })
    assert.equal(await thrownIn(() => gateway.open()), 'trace:mine')
  })
  it('is known of an API style and of an export format', async () => {
    const style = apiStyle({ ...messages, id: 'mine', envelope: boom })
    assert.equal(await thrownIn(() => readRequest(style, Buffer.from('{"messages":[]}'))), 'api-style:mine')
    const writers = [boom, () => ({ begin: boom, span: boom, event: boom, artifact: boom, end: boom })]
    for (const writer of writers) {
      const format = exportFormat({ ...jsonl, writer, id: 'mine' })
      assert.equal(await thrownIn(() => [...writeTrace(format, aTrace())]), 'export-format:mine')
    }
  })
  it('is what a fault is reported under, where one waits for the answer and where nobody does', async () => {
    const faults: string[] = []
    const provider = await new FakeProvider().listen()
    const started = await startGateway({ upstream: provider.url })
    const { hooks } = started.gateway
    const ask = async () => (await started.request('POST', '/v1/chat/completions', { model: 'm', messages: [] })).status
    try {
      hooks.fault.tap('test', (_error, where) => void faults.push(where))
      hooks.record.tapPromise('mine', async () => boom())
      assert.equal(await ask(), 200)
      hooks.request.tap('mine', boom)
      assert.equal(await ask(), 500)
    } finally {
      await started.close()
      await provider.close()
    }
    assert.deepEqual(faults, ['record:mine', 'request:mine'])
  })
})
