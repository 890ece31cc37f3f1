import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'

const start = join(import.meta.dirname, '../../../presets/default/start.js')

/** Runs the file on a Node that is too old to load more of it, and tells which words it hands on. */
const handed = (...words: readonly string[]) => handedBy(start, ...words)

const handedBy = (start: string, ...words: readonly string[]) => {
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
  it('names the file again that npx was given', async () => {
    const home = await mkdtemp(join(tmpdir(), 'guard-old-node-'))
    const folder = join(home, '_npx/1')
    await mkdir(folder, { recursive: true })
    const npx = { dependencies: { 'guard-gateway': 'file:../../g.tgz' } }
    await writeFile(join(folder, 'package.json'), JSON.stringify(npx))
    await symlink(start, join(folder, 'guard-gateway'))
    const [, , said] = await handedBy(join(folder, 'guard-gateway'))
    assert.match(String(said), new RegExp(`-p node@24 -p file:${join(home, 'g.tgz')} guard-gateway"`))
    await rm(home, { recursive: true })
  })
  it('is the command line with words', async () => {
    assert.deepEqual(await handed('status', '--json'), [1, 'status --json', refusal])
  })
})
