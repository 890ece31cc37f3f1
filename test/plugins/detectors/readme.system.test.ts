import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import type { Rule } from 'guard-gateway/core'
import { parse } from 'yaml'
import { readOptions } from '../../../bench/options.ts'
import { qualityText } from '../../../bench/quality/report.ts'
import { runQuality } from '../../../bench/suites/quality.ts'
import { sameAnswer } from '../../../examples/custom-detector.ts'
import { startApi } from '../policy/kit.ts'

const root = join(import.meta.dirname, '../../..')
const guide = readFileSync(join(root, 'plugins/detectors/README.md'), 'utf8')
const blocks = (language: string): string[] =>
  [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map((match) => match[1] ?? '')

const [source = '', itsTest = '', ...otherPrograms] = blocks('ts')
const [, command = '', inForce = ''] = blocks('sh')
const [, rules = ''] = blocks('yaml')

describe('the guide to a detector, followed from an empty folder', () => {
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guard-guide-'))
    await mkdir(join(folder, 'node_modules'))
    await symlink(root, join(folder, 'node_modules/guard-gateway'))
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
    await writeFile(join(folder, 'custom-detector.ts'), source)
    await writeFile(join(folder, 'custom-detector.test.ts'), itsTest)
  })
  after(() => rm(folder, { recursive: true, force: true }))

  it('shows the example and its test', () => {
    assert.deepEqual(otherPrograms, [])
    assert.equal(source, readFileSync(join(root, 'examples/custom-detector.ts'), 'utf8'))
    const kept = readFileSync(join(root, 'test/examples/custom-detector.test.ts'), 'utf8')
    assert.equal(itsTest, kept.replace('../../examples/', './'))
  })
  it('has a test that passes there', async () => {
    const env = { ...process.env, NODE_TEST_CONTEXT: undefined }
    const cached = `--import=${join(root, 'test/kit/compile-cache.ts')}`
    const args = ['--conditions=guard-source', cached, '--test', '--test-reporter=tap']
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder, env })
    assert.match(stdout, /^# tests 9\n[\s\S]*^# fail 0$/m)
  })
  it('has a command that gives the table that it shows, but for times', async () => {
    const [words, args = ''] = command.trim().split(' bench ')
    assert.equal(words, 'npx guard')
    const options = readOptions(args.replace('./', `${folder}/`).split(' '), {})
    const { summaries } = await runQuality(options, () => {})
    const [shown = ''] = blocks('text')
    assert.deepEqual(withoutTimes(qualityText(summaries, false)), withoutTimes(shown))
  })
  it('has rules that a policy takes, and commands that there are', async () => {
    const { put } = await startApi({}, [sameAnswer])
    const { status, body } = await put({ rules: parse(rules) })
    assert.deepEqual([status, body.warnings], [200, []])
    assert.deepEqual(
      body.rules.map(({ rule_type, threshold, action }: Rule) => `${rule_type} ${threshold} ${action}`),
      ['exact_repeat 3 block', 'error_retry 5 block', 'same_answer 4 flag'],
    )
    assert.equal(inForce, 'npx guard policy simulate rules.yml\nnpx guard policy apply rules.yml\n')
  })
})

/** Cells of each line up to what was saved; what follows depends on the machine. */
const withoutTimes = (table: string): string[][] =>
  table
    .trim()
    .split('\n')
    .map((line) => line.split(/ {2,}/).slice(0, 9))
