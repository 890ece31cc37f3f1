import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { read, root } from './documents.ts'

const promises = read('SECURITY.md')
  .split('## What is promised')[1]
  ?.split('\n## ')[0]
  ?.split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (?:---|Promise)/.test(line))

describe('SECURITY.md', () => {
  it('names tests that hold each promise, and that there are', () => {
    assert.equal(promises?.length, 7)
    for (const promise of promises ?? []) {
      const tests = [...promise.matchAll(/`(test\/[^`]+)`/g)].map(([, file = '']) => file)
      assert.ok(tests.length > 0, promise)
      for (const file of tests) assert.ok(existsSync(join(root, file)), `${file} of: ${promise}`)
    }
  })
  it('names all that changes bytes: options of upstreams, an action of rules, a param, the policy of tools', () => {
    const bytes = promises?.find((promise) => promise.startsWith('| Bytes are not changed')) ?? ''
    for (const word of ['`model_map`', '`inject_stream_usage`', '`steer`', '`cut`', 'MCP policy'])
      assert.ok(bytes.includes(word), word)
  })
})
