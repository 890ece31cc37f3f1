import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { describe, it } from 'node:test'

const start = join(import.meta.dirname, '../../../presets/default/start.js')

/** Runs the file on a Node that is too old to load more of it, and tells which words it hands on. */
const handed = (...words: readonly string[]) => {
  const old =
    "Object.defineProperty(process, 'versions', { value: { node: '20.20.2' } }); process.on('exit', () => process.stdout.write(process.argv.slice(2).join(' ')))"
  const preload = `--import=data:text/javascript,${encodeURIComponent(old)}`
  return new Promise<readonly unknown[]>((resolve) => {
    execFile(process.execPath, [preload, start, ...words], (error, out, err) => resolve([error?.code, out, err]))
  })
}

const refusal =
  'Guard Gateway needs Node 22.19 or newer; this is 20.20.2. Install a newer Node, or run "npx -p node@24 -p guard-gateway guard-gateway".\n'

describe('the program guard-gateway', () => {
  it('starts the gateway without words, and says under an old Node how to', async () => {
    assert.deepEqual(await handed(), [1, 'gateway run', refusal])
  })
  it('takes the line that ends the words of npx for none', async () => {
    assert.deepEqual(await handed('--'), [1, 'gateway run', refusal])
  })
  it('is the command line with words', async () => {
    assert.deepEqual(await handed('status', '--json'), [1, 'status --json', refusal])
  })
})
