import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { main } from '../../../presets/default/main.ts'
import { fakeIo } from '../../kit/io.ts'

test('an older version of a client, and one that was never tried, are told', async (context) => {
  const cwd = await mkdtemp(join(tmpdir(), 'guard-doctor-'))
  const { PATH } = process.env
  context.after(async () => {
    process.env.PATH = PATH
    await rm(cwd, { recursive: true, force: true })
  })
  await mkdir(join(cwd, 'bin'))
  process.env.PATH = join(cwd, 'bin')
  const says = async (command: string, version: string): Promise<string> => {
    const text = `#!${process.execPath}\nconsole.log('${version}')\n`
    await writeFile(join(cwd, 'bin', command), text, { mode: 0o755 })
    const io = fakeIo({ cwd, env: {} })
    await main(['doctor', command], io)
    return io.outText()
  }
  assert.match(
    await says('copilot', 'GitHub Copilot CLI 1.0.99.'),
    /! Copilot CLI 1\.0\.99 is older than 1\.0\.102, with/,
  )
  assert.match(await says('copilot', 'GitHub Copilot CLI 1.0.110.'), /✓ Copilot CLI 1\.0\.110, tried with 1\.0\.102\n/)
  assert.match(await says('goose', 'goose 1.40.0'), /! Goose 1\.40\.0 was never tried; its profile is by its doc/)
})
