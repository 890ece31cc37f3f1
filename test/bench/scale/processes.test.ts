import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { cpuOf, cpuOfTree, type ProcessStat, parseStat } from '../../../bench/scale/processes.ts'

const line = (name: string): string =>
  `812 (${name}) S 7 812 812 0 -1 4194560 1234 0 5 0 150 50 20 30 20 0 1 0 99 1000 200 18446744073709551615`

describe('CPU of processes', () => {
  it('is read in microseconds, whatever the name holds', () => {
    const expected = { parent: 7, own_us: 2_000_000, ended_us: 500_000 }
    for (const name of ['postgres', 'a b', 'x) S 1 (y', ')']) assert.deepEqual(parseStat(line(name)), expected, name)
  })
  it('counts descendants and what has ended, and no others', () => {
    const stat = (parent: number, own_us: number, ended_us = 0): ProcessStat => ({ parent, own_us, ended_us })
    const stats = new Map([
      [1, stat(0, 1_000)],
      [2, stat(1, 10, 5)],
      [3, stat(2, 100)],
      [4, stat(3, 7, 2)],
      [5, stat(1, 50_000)],
    ])
    assert.equal(cpuOf(2, stats), 10 + 5 + 100 + 7 + 2)
    assert.equal(cpuOf(9, stats), 0)
  })
  it('grows with the work of this process', { skip: process.platform !== 'linux' }, () => {
    const before = cpuOfTree(process.pid)
    const start = process.cpuUsage()
    for (let spent = 0; spent < 60_000; ) {
      const { user, system } = process.cpuUsage(start)
      spent = user + system
    }
    const grown = cpuOfTree(process.pid) - before
    assert.ok(grown >= 40_000, `${grown} µs`)
  })
})
