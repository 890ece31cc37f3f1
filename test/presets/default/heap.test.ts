import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, it } from 'node:test'

const heap = join(import.meta.dirname, '../../../presets/default/heap.js')

/** Makes objects that outlive collections, in turns, until they would have let the nursery grow to its utmost; prints its size in MiB. */
const PROGRAM = `
import { getHeapSpaceStatistics } from 'node:v8'
import { tuneHeap } from ${JSON.stringify(heap)}
tuneHeap()
const size = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size / 2 ** 20
const begun = size()
const kept = []
for (let turn = 0; turn < 1_000; turn++) {
  for (let index = 0; index < 1_000; index++) kept[(turn * 1_000 + index) % 200_000] = new Array(40).fill(turn)
  await new Promise(setImmediate)
}
console.log(JSON.stringify([begun, size()]))
`

/** At the start and under load, in MiB. */
const sizes = (...flags: readonly string[]): readonly [number, number] =>
  JSON.parse(execFileSync(process.execPath, [...flags, '--input-type=module', '--eval', PROGRAM], { encoding: 'utf8' }))

/** A collection under way may hold that many more; the next larger nursery has twice as many. */
const PAGES_MIB = 8

describe('the heap', () => {
  it('has a young generation of 16 MiB from the start, and never a larger one', () => {
    if (!process.versions.v8.startsWith('13.6.')) return
    const [begun, later] = sizes()
    assert.ok(begun >= 16 && Math.max(begun, later) <= 16 + PAGES_MIB, `${begun} and ${later} MiB`)
  })
  it('has a smaller one if a flag says so', () => {
    const [begun, later] = sizes('--max-semi-space-size=2')
    // how many pages wait to be swept depends on the load of the machine
    assert.ok(Math.max(begun, later) < 16, `${begun} and ${later} MiB`)
  })
})
