import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { removeAbandoned, runFolder, writeRunFiles } from '../../../plugins/clients/run-files.ts'
import { recording } from './agent.ts'
import { workplace } from './kit.ts'

const files = [{ path: 'settings.json', text: 'a key' }]

describe('the folder of a run', () => {
  let root: string
  let dead: number
  const own = process.env.TMPDIR
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'guard-abandoned-'))
    process.env.TMPDIR = root
    const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' })
    await once(child, 'exit')
    dead = child.pid ?? 0
  })
  after(async () => {
    if (own === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = own
    await rm(root, { recursive: true })
  })
  /** The folder that a process which is gone would have. */
  const abandoned = (id: string): string => runFolder(id).replace(/\d+$/, String(dead))

  it('is removed by the next run where its process was killed, and by no one while it lives', async () => {
    const [living, killed] = [runFolder('run_1'), abandoned('run_2')]
    for (const folder of [living, killed]) await writeRunFiles(folder, { files })
    await removeAbandoned()
    assert.deepEqual([existsSync(living), existsSync(killed)], [true, false])
  })

  it('is kept where another machine or somebody else may have made it', async () => {
    const elsewhere = abandoned('run_3').replace(/_[0-9a-f]{8}_/, '_00000000_')
    await writeRunFiles(elsewhere, { files })
    const link = abandoned('run_4')
    const mine = await mkdtemp(join(root, 'mine-'))
    await writeFile(join(mine, 'file'), '')
    await symlink(mine, link)
    await removeAbandoned()
    for (const one of [join(elsewhere, 'settings.json'), link, join(mine, 'file')]) assert.ok(existsSync(one), one)
  })

  it('is looked for by every guard run', async (context) => {
    const killed = abandoned('run_5')
    await writeRunFiles(killed, { files })
    const { command } = await workplace(context, { address: await recording(context) })
    await command('run', [], {}, ['true'])
    assert.ok(!existsSync(killed))
    assert.equal(dirname(killed), root)
    assert.match(basename(killed), /^guard-run_5_[0-9a-f]{8}_\d+$/)
  })
})
