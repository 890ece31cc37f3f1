import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { PrefixChecksums } from '../../../../plugins/lib/request-reader/prefix-checksums.ts'

describe('checksums of the beginnings of bodies', () => {
  it('are of 4,096 names at most, those that asked least recently go first', () => {
    const checksums = new PrefixChecksums()
    const body = Buffer.alloc(4_096, 'a')
    checksums.continues('old', body)
    checksums.continues('used', body)
    for (let n = 2; n < 4_096; n++) checksums.continues(`name ${n}`, body)
    assert.equal(checksums.continues('used', body), true)
    checksums.continues('new', body)
    assert.equal(checksums.continues('used', body), true)
    assert.equal(checksums.continues('old', body), false)
  })
})
