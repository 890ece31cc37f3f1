import assert from 'node:assert/strict'
import { it } from 'node:test'
import { ParserProcess } from '#lib/parser-process'
import { withoutProcesses } from '../../../kit/no-processes.ts'

/** What becomes of texts of so many characters that wait at once, while no process can be started. */
const failures = (max_waiting: number, max_waiting_chars: number, sizes: readonly number[]) =>
  withoutProcesses(async () => {
    const parsers = new ParserProcess({ max_waiting, max_waiting_chars })
    const parsing = sizes.map((chars) => parsers.parse('file:///nowhere.ts', '', { chars }))
    return (await Promise.allSettled(parsing)).map((result) => result.status === 'rejected' && result.reason.failure)
  })

it('so many texts wait behind one for a parser, and together have so many characters', async () => {
  const [waits, refused] = ['unavailable', 'overloaded']
  assert.deepEqual(await failures(2, 100, [1, 1, 1, 1]), [waits, waits, waits, refused])
  assert.deepEqual(await failures(9, 100, [60, 40, 1]), [waits, waits, refused])
  assert.deepEqual(await failures(9, 100, [1_000, 1]), [waits, refused])
})
