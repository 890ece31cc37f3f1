import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { qualityText } from '../../../bench/lib/report.ts'
import { readOptions } from '../../../bench/options.ts'
import { runQuality } from '../../../bench/suites/quality.ts'

const root = join(import.meta.dirname, '../../..')
const guide = readFileSync(join(root, 'plugins/detectors/README.md'), 'utf8')
const blocks = (language: string): string[] =>
  [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map((match) => match[1] ?? '')

test('the guide shows the example and a piece of its test', () => {
  const [source, piece, ...others] = blocks('ts')
  assert.deepEqual(others, [])
  assert.equal(source, readFileSync(join(root, 'examples/custom-detector.ts'), 'utf8'))
  assert.ok(readFileSync(join(root, 'test/examples/custom-detector.test.ts'), 'utf8').includes(piece ?? 'no piece'))
})

test('its command gives the table that it shows, but for times', async () => {
  const [command = ''] = blocks('sh')
  const [words, args] = command.trim().split(' -- ')
  assert.equal(words, 'npm run bench')
  const options = readOptions(args?.split(' ') ?? [], {})
  const { summaries } = await runQuality(options, () => {})
  const [shown = ''] = blocks('text')
  assert.deepEqual(withoutTimes(qualityText(summaries, false)), withoutTimes(shown))
})

/** Cells of each line up to what was saved; what follows depends on the machine. */
const withoutTimes = (table: string): string[][] =>
  table
    .trim()
    .split('\n')
    .map((line) => line.split(/ {2,}/).slice(0, 9))
