import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { Gateway, type Plugin } from 'guard-gateway/core'
import { type Config, createGateway, loadConfig } from 'guard-gateway/presets/default'

const root = join(import.meta.dirname, '../..')
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8')

/** The headings that all guides have, in their order. */
const headings = [
  'What it is',
  'The smallest one',
  'What it may do and must not',
  'Options and schemas',
  'How it is tested',
  'How it is registered',
]

export interface GuideSubject {
  /** `plugins/storage/README.md` */
  readonly readme: string
  /** The example that it shows, without its folder and ending; its test is `test/examples/<example>.test.ts`. */
  readonly example: string
  /** How many tests the test in the guide has. */
  readonly tests: number
  /** The plugin that the configuration and the preset of the guide bring: `storage/journal`. */
  readonly plugin: string
}

/** The code blocks of a text in one language, in their order. */
export const blocksOf = (text: string, language: string): string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map((match) => match[1] ?? '')

/**
 * Follows a guide to a kind of plugin from an empty folder, as its reader would: its blocks are the example and the example's test,
 * the test passes there, and its configuration and its preset bring the plugin.
 */
export const followGuide = ({ readme, example, tests, plugin }: GuideSubject): void => {
  const guide = textOf(readme)
  const [source = '', itsTest = '', preset = '', ...otherPrograms] = blocksOf(guide, 'ts')
  const [config = ''] = blocksOf(guide, 'yaml')
  const key = 'gateway_key: guard_0123456789abcdef\n'

  describe(`${readme}, followed from an empty folder`, () => {
    let folder = ''
    const write = (name: string, text: string) => writeFile(join(folder, name), text, { mode: 0o600 })
    const configured = async (text: string): Promise<Config> => {
      await write('guard-config.yml', text)
      return (await loadConfig(join(folder, 'guard-config.yml'), {})).config
    }
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'guard-guide-'))
      await mkdir(join(folder, 'node_modules'))
      await symlink(root, join(folder, 'node_modules/guard-gateway'))
      await write('package.json', '{ "type": "module" }')
      await write(`${example}.ts`, source)
      await write(`${example}.test.ts`, itsTest)
      await write('preset.ts', preset)
    })
    after(() => rm(folder, { recursive: true, force: true }))

    it('has the headings of all guides', () => {
      assert.deepEqual(
        [...guide.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading),
        headings,
      )
    })
    it('shows the example and its test', () => {
      assert.deepEqual(otherPrograms, [])
      assert.equal(source, textOf(`examples/${example}.ts`))
      assert.equal(itsTest, textOf(`test/examples/${example}.test.ts`).replace('../../examples/', './'))
    })
    it('has a test that passes there', async () => {
      const env = { ...process.env, NODE_TEST_CONTEXT: undefined }
      const cached = `--import=${join(root, 'test/kit/compile-cache.ts')}`
      const args = ['--conditions=guard-source', cached, '--test', '--test-reporter=tap']
      const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder, env })
      assert.match(stdout, new RegExp(`^# tests ${tests}\\n[\\s\\S]*^# fail 0$`, 'm'))
    })
    it('has a configuration that brings the plugin', async () => {
      const gateway = await createGateway(await configured(key + config))
      assert.ok(gateway.plugins().includes(plugin), gateway.plugins().join(' '))
    })
    it('has a preset that brings it', async () => {
      const module = (await import(pathToFileURL(join(folder, 'preset.ts')).href)) as {
        readonly myPreset: (config: Config) => readonly Plugin[]
      }
      const gateway = new Gateway().use(...module.myPreset(await configured(key)))
      assert.ok(gateway.plugins().includes(plugin), basename(folder))
    })
  })
}
