import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { shell } from 'guard-gateway/plugins/mcp-checks/shell'
import { loaded } from '../../../conformance/mcp-check.ts'

/** Nothing in it names a folder, so that a shell finds no program but those planted for it. */
const piece = fc.constantFrom(
  ...[
    'ls',
    'ls',
    'ls',
    'ls ',
    'rm',
    'rm ',
    'x',
    'a',
    ' ',
    ' ',
    '\n',
    '\t',
    ';',
    '; ',
    '&',
    ' & ',
    '&&',
    '|',
    '||',
    '|&',
    '(',
    ')',
  ],
  ...[
    '{ ',
    '}',
    ' }',
    '; }',
    '!',
    '! ',
    '#',
    ' #',
    '\\',
    '\\\n',
    "'",
    "'",
    '"',
    '"',
    '`',
    '$',
    '$(',
    '${',
    '}',
    '$x',
    "$'",
    '=',
    '[',
    ']',
  ],
  ...[
    '2>&1',
    '>&2',
    '<',
    '>',
    '~',
    '*',
    '?',
    '-l',
    '1',
    ',',
    ':',
    '^',
    '%',
    '@',
    '+',
    'é',
    '{a,b}',
    '\\;',
    "\\'",
    '\\"',
    '$"',
    "$'\\n",
  ],
  ...['"$(', '"$(ls', ')"', ')"', '"$(ls)"', "<<'a'", "<<'a'\n", '<<-\\a', '\na\n', '\na', '\n\ta\n', 'a\n)'],
  ...['$?', '"$?"', 'CI=1 ', 'CI=', 'X=', '[ ', ' ]', '[ -f ', ' = ', ' -a ', '<<a', '<<a\n', '{,', '{1..2}', '}{'],
  ...['&>/dev/null', '&>>/dev/null ', '>/dev/null', '10>&1', '$\\'],
)
const text = fc
  .tuple(fc.constantFrom('ls ', 'ls ', ''), fc.array(piece, { minLength: 1, maxLength: 10 }))
  .map(([start, pieces]) => start + pieces.join(''))

/** Bash where it is installed, and whatever `sh` is. */
const shells = [['/bin/bash', '/usr/bin/bash'].find(existsSync), '/bin/sh'].filter((path) => path !== undefined)
/**
 * Runs each of its arguments in a shell of its own and keeps what it says and what the planted programs log.
 * Another shell does this, since to start one from here costs far more; what a command leaves in the background is waited for.
 */
const runAll = `
  at=0
  for command; do
    at=$((at + 1))
    export GUARD_LOG="$PWD/../$at.log"
    : > "$GUARD_LOG"
    said=$("$0" -c "$command" < /dev/null 2>&1)
    printf %s "$said" > "../$at.said"
  done
  exit 0`
const folder = mkdtempSync(join(tmpdir(), 'guard-shell-'))
after(() => rmSync(folder, { recursive: true, force: true }))

/** The longest texts that pass. */
const accepted = async (): Promise<string[]> => {
  const find = await loaded(shell, { args: ['/command'], allow: ['ls', 'test'] })
  const texts = new Set<string>()
  for (const command of fc.sample(text, { seed: 20_261_121, numRuns: 12_000 }))
    if ((await find({ command })).length === 0) texts.add(command)
  assert.ok(texts.size > 100, `${texts.size} accepted`)
  return [...texts].sort((left, right) => right.length - left.length).slice(0, 150)
}

describe('shell patterns against real shells', () => {
  let texts: readonly string[] = []
  before(async () => {
    mkdirSync(join(folder, 'bin'))
    mkdirSync(join(folder, 'work'))
    for (const name of ['ls', 'rm', 'x', 'a', '1', 'l']) {
      writeFileSync(join(folder, 'bin', name), `#!/bin/sh\necho ${name} >> "$GUARD_LOG"\n`)
      chmodSync(join(folder, 'bin', name), 0o755)
    }
    texts = await accepted()
  })
  for (const path of shells)
    it(`pass no text in which ${path} runs anything that is not allowed`, () => {
      const { status, signal } = spawnSync('/bin/sh', ['-c', runAll, path, ...texts], {
        cwd: join(folder, 'work'),
        env: { PATH: join(folder, 'bin') },
        timeout: 60_000,
      })
      assert.deepEqual([status, signal], [0, null])
      for (const [index, command] of texts.entries()) {
        const kept = (of: string) => readFileSync(join(folder, `${index + 1}.${of}`), 'utf8')
        assert.doesNotMatch(kept('said'), /not found|No such file/, JSON.stringify(command))
        assert.match(kept('log'), /^(?:ls\n)*$/, JSON.stringify(command))
      }
    })
})
