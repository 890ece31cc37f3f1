import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Gateway } from 'guard-gateway/core'
import { explain } from '../../../plugins/cli/explain.ts'
import { fakeIo } from '../../kit/io.ts'

const explained = async (code: string, options = {}) => {
  const io = fakeIo()
  const exit = await explain(new Gateway()).run({ args: [code], options, rest: [] }, io)
  return { exit, out: io.outText(), err: io.errText() }
}

describe('explain', () => {
  it('says status, type, meaning and what to do for every code', async () => {
    for (const { id: code, status, type, message, help } of new Gateway().errorCodes) {
      const { exit, out } = await explained(code)
      assert.equal(exit, 0)
      assert.equal(out, `${code}  HTTP ${status}  ${type}\n${message}.\n${help}\n`)
    }
  })
  it('takes a code as it is typed', async () => {
    assert.match((await explained('port-taken')).out, /^PORT_TAKEN /)
  })
  it('gives one object with --json', async () => {
    const { out } = await explained('PORT_TAKEN', { json: true })
    assert.deepEqual(Object.keys(JSON.parse(out)), ['code', 'status', 'type', 'message', 'help'])
  })
  it('names the nearest code and ends with 1', async () => {
    const { exit, out, err } = await explained('PORT_TAKE')
    assert.equal(exit, 1)
    assert.equal(out, '')
    assert.match(err, /There is no code "PORT_TAKE"\. Did you mean "PORT_TAKEN"\?/)
  })
})
