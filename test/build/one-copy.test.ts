import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { rolldown } from 'rolldown'
import { oneCopy } from '../../build/one-copy.ts'

describe('packages in a bundle', () => {
  let root = ''
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'guard-one-copy-'))
  })
  after(() => rm(root, { recursive: true, force: true }))

  const project = async (files: Readonly<Record<string, string>>): Promise<string> => {
    const folder = await mkdtemp(join(root, 'project-'))
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, name)), { recursive: true })
      await writeFile(join(folder, name), text)
    }
    return folder
  }
  const built = async (files: Readonly<Record<string, string>>, conditionNames: string[] = []): Promise<void> => {
    const folder = await project(files)
    const bundle = await rolldown({
      cwd: folder,
      input: join(folder, 'index.js'),
      platform: 'node',
      resolve: { conditionNames },
      plugins: [oneCopy(folder, {})],
      logLevel: 'silent',
    })
    await bundle.generate({ format: 'esm' })
    await bundle.close()
  }

  const pool = {
    'node_modules/pool/package.json':
      '{"name":"pool","exports":{".":{"import":"./esm/index.mjs","require":"./index.js"}}}',
    'node_modules/pool/index.js': 'module.exports = class Pool {}',
    'node_modules/pool/esm/index.mjs': `import Pool from '../index.js'\nexport default Pool`,
    'node_modules/driver/package.json': '{"name":"driver"}',
    'node_modules/driver/index.js': `exports.Pool = class extends require('pool') {}`,
  }
  const both = `import { Pool } from 'driver'\nimport Bare from 'pool'\nconsole.log(Pool, Bare)`

  it('may be required and imported, where its ES module wraps the CommonJS one', async () => {
    await built({ ...pool, 'index.js': both })
  })
  it('are required as Node requires them, and not as the namespace of a wrapper', async () => {
    await assert.rejects(
      built({ ...pool, 'index.js': both }, ['import']),
      /node_modules\/driver\/index\.js requires pool, which is node_modules\/pool\/index\.js to Node and would be node_modules\/pool\/esm\/index\.mjs/,
    )
  })
  it('have one form, where each has a state of its own', async () => {
    const twice = { ...pool, 'node_modules/pool/esm/index.mjs': 'export default class Pool {}' }
    await assert.rejects(
      built({ ...twice, 'index.js': both }),
      /node_modules\/pool would be in the package twice.*: index\.js is not.*loaded by node_modules\/driver\/index\.js/,
    )
    await built({ ...twice, 'index.js': `import Bare from 'pool'\nconsole.log(Bare)` })
  })
  it('that are ES modules alone may be required, and what is not installed may be asked for', async () => {
    await built({
      'node_modules/only/package.json': '{"name":"only","type":"module","exports":"./index.js"}',
      'node_modules/only/index.js': 'export const one = 1',
      'node_modules/user/package.json': '{"name":"user"}',
      'node_modules/user/index.js': `exports.one = require('only').one; try { require('absent') } catch {}`,
      'index.js': `import user from 'user'\nconsole.log(user)`,
    })
  })
})
