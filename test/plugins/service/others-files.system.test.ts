import assert from 'node:assert/strict'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { parseEnv } from 'node:util'
import { serviceHome } from './kit.ts'

const written = (file: string, text: string): void => {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text, { mode: 0o600 })
}
const env = { MODEL_KEY: 'new-key' }

describe('the keys file of a service', () => {
  it('keeps a link into another folder, as managers of dotfiles make it', async () => {
    await using home = await serviceHome()
    const real = join(home.home, 'dotfiles/keys.env')
    written(real, 'OTHER=1\n')
    mkdirSync(dirname(home.keys), { recursive: true })
    symlinkSync(real, home.keys)
    await home.guard('install', { env: ['MODEL_KEY'] }, { env })
    assert.equal(readlinkSync(home.keys), real)
    assert.equal(readFileSync(real, 'utf8'), 'OTHER=1\nMODEL_KEY=new-key\n')
    assert.equal(statSync(real).mode & 0o777, 0o600)
  })

  for (const [what, text] of [
    ['a line of a longer value', 'OTHER="a\nMODEL_KEY=old\nb"\n'],
    ['the first line of a longer value', 'MODEL_KEY="a\nb"\n'],
    ['behind a quote that never ends', 'OTHER="a\n'],
    ['behind a line that goes on', 'OTHER=a\\\n'],
  ] as const)
    it(`is left as it is where a key would be written as ${what}`, async () => {
      await using home = await serviceHome()
      written(home.keys, text)
      await assert.rejects(
        home.guard('install', { env: ['MODEL_KEY'] }, { env }),
        /keys\.env has a value over several lines, a quote that does not end or a backslash at the end of a line, so MODEL_KEY cannot be added to it safely\. Write MODEL_KEY=… into it yourself/,
      )
      assert.equal(readFileSync(home.keys, 'utf8'), text)
      assert.ok(!existsSync(join(home.home, '.config/systemd')))
    })

  it('replaces a key in whatever way it was written, and nothing else', async () => {
    await using home = await serviceHome()
    written(home.keys, '# mine\nexport MODEL_KEY=old\nA="b c"\n MODEL_KEY = older\nMODEL_KEY=oldest')
    await home.guard('install', { env: ['MODEL_KEY'] }, { env })
    assert.deepEqual({ ...parseEnv(readFileSync(home.keys, 'utf8')) }, { MODEL_KEY: 'new-key', A: 'b c' })
  })
})

describe('a file of somebody else in the place of a service', () => {
  for (const [what, make] of [
    ['a link that leads nowhere', (file: string) => symlinkSync('/nowhere/else', file)],
    ['a folder', (file: string) => mkdirSync(file)],
  ] as const)
    it(`is kept: ${what}`, async () => {
      await using home = await serviceHome()
      written(home.keys, 'MODEL_KEY=k\n')
      const file = join(home.home, '.config/systemd/user/guard-gateway.service')
      mkdirSync(dirname(file), { recursive: true })
      make(file)
      await assert.rejects(home.guard('install'), /was edited, or was not written by this command/)
      await assert.rejects(home.guard('remove'), /was edited, or was not written by "guard service install"/)
      assert.ok(!lstatSync(file).isFile())
    })
})

describe('the folder of configuration files', () => {
  for (const [what, more] of [
    ['a relative XDG_CONFIG_HOME, which counts for nothing', { XDG_CONFIG_HOME: 'cfg' }],
    ['an empty XDG_CONFIG_HOME', { XDG_CONFIG_HOME: '' }],
  ] as const)
    it(`is below the home with ${what}`, async () => {
      await using home = await serviceHome()
      const { out } = await home.guard('install', { print: true, env: ['MODEL_KEY'] }, { env: { ...env, ...more } })
      assert.match(out, new RegExp(`^EnvironmentFile=-${home.home}/.config/guard/keys.env$`, 'm'))
    })
  it('is not relative with an empty HOME', async () => {
    await using home = await serviceHome()
    const { out } = await home.guard('install', { print: true, env: ['MODEL_KEY'] }, { env: { ...env, HOME: '' } })
    assert.match(out, /^EnvironmentFile=-\/.*\/\.config\/guard\/keys\.env$/m)
  })
  it('may have signs that systemd takes for patterns', async () => {
    await using home = await serviceHome()
    const folder = join(realpathSync(home.home), 'a[b]*?\\c')
    const more = { ...env, XDG_CONFIG_HOME: folder }
    const { out } = await home.guard('install', { print: true, env: ['MODEL_KEY'] }, { env: more })
    assert.ok(out.includes('/a\\[b]\\*\\?\\\\c/guard/keys.env\n'), out)
  })
})
