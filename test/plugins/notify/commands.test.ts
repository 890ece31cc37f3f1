import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Gateway, type GuardError } from 'guard-gateway/core'
import { notify, notifyCommands } from 'guard-gateway/plugins/notify'
import { fakeIo } from 'guard-gateway/test'
import { commandKind } from '#lib/command'

const run = async (results: readonly object[], args: readonly string[] = [], options = {}) => {
  const asked: unknown[] = []
  const gateway = new Gateway().use(
    notify(),
    notifyCommands({
      asking: (work) =>
        work(async (method, path, body) => {
          asked.push([method, path, body])
          return { results }
        }),
    }),
  )
  const io = fakeIo()
  const code = await gateway.registry(commandKind).need('notify test').run({ args, options, rest: [] }, io)
  return { code, text: io.outText(), asked }
}
const delivered = { receiver: 'phone', outcome: 'delivered', error: null }
const failed = { receiver: 'team', outcome: 'rejected', error: 'It answered 404: no\u001b[31m_service.' }

describe('guard notify test', () => {
  it('tries each receiver, or the one that is named', async () => {
    const { code, text, asked } = await run([delivered])
    assert.deepEqual([code, text], [0, 'phone  delivered\n'])
    assert.deepEqual(asked, [['POST', '/api/notify/test', {}]])
    assert.deepEqual((await run([delivered], ['phone'])).asked, [['POST', '/api/notify/test', { receiver: 'phone' }]])
  })
  it('says why one was not reached, and fails', async () => {
    const { code, text } = await run([delivered, failed])
    assert.equal(code, 1)
    assert.equal(text, 'phone  delivered\nteam  not delivered. It answered 404: no_service.\n')
    assert.deepEqual(JSON.parse((await run([failed], [], { json: true })).text), { results: [failed] })
  })
  it('says what to do where there is no receiver', async () => {
    await assert.rejects(
      run([]),
      (error: GuardError) => error.code === 'USAGE' && /notify\.receivers/.test(error.message),
    )
  })
})
