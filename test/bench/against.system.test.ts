import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { readOptions } from '../../bench/options.ts'
import { runLoad } from '../../bench/suites/load.ts'

const root = join(import.meta.dirname, '../..')

describe('the load suite', () => {
  it('measures the gateway of another checkout in turns, here of this one', async () => {
    const options = readOptions(['--suite', 'load', 'chat_1k', '--smoke', '--against', root], {})
    const { least, failures, sent, recorded } = await runLoad(options, () => {})
    assert.deepEqual(failures, [])
    // those sent to the reference are not among them
    assert.deepEqual([sent, recorded], [20, 20])
    assert.deepEqual(
      least.map(({ shape, when }) => [shape, when]),
      [
        ['chat_1k', 'first round'],
        ['chat_1k', 'warm'],
      ],
    )
    for (const { us } of least) {
      assert.deepEqual(Object.keys(us).sort(), ['gateway', 'raw', 'reference'])
      assert.ok(Object.values(us).every((value) => value > 0))
    }
  })
})
