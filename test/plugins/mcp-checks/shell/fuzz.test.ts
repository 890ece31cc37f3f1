import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import fc from 'fast-check'
import { shell } from 'guard-gateway/plugins/mcp-checks/shell'
import { loaded } from '../../../conformance/mcp-check.ts'

/** Nothing in it names a folder, so that Bash finds no program but those planted for it. */
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
)
const text = fc
  .tuple(fc.constantFrom('ls ', 'ls ', ''), fc.array(piece, { minLength: 1, maxLength: 10 }))
  .map(([start, pieces]) => start + pieces.join(''))

const bash = ['/bin/bash', '/usr/bin/bash'].find(existsSync)
/**
 * Runs each of its arguments in a Bash of its own and keeps what it says and what the planted programs log.
 * A shell of its own does this, since to start one from here costs far more; what a command leaves in the background is waited for.
 */
const runAll = `
  at=0
  for command; do
    at=$((at + 1))
    export GUARD_LOG="$PWD/../$at.log"
    : > "$GUARD_LOG"
    said=$("$0" --norc --noprofile -c "$command" < /dev/null 2>&1)
    printf %s "$said" > "../$at.said"
  done
  exit 0`
const folder = mkdtempSync(join(tmpdir(), 'guard-shell-'))
after(() => rmSync(folder, { recursive: true, force: true }))

if (bash !== undefined)
  describe('shell patterns against Bash', () => {
    it('pass no text in which Bash runs anything that is not allowed', async () => {
      mkdirSync(join(folder, 'bin'))
      mkdirSync(join(folder, 'work'))
      for (const name of ['ls', 'rm', 'x', 'a', '1', 'l']) {
        writeFileSync(join(folder, 'bin', name), `#!/bin/sh\necho ${name} >> "$GUARD_LOG"\n`)
        chmodSync(join(folder, 'bin', name), 0o755)
      }
      const find = await loaded(shell, { args: ['/command'], allow: ['ls', 'test'] })
      const accepted = new Set<string>()
      for (const command of fc.sample(text, { seed: 20_261_121, numRuns: 25_000 }))
        if ((await find({ command })).length === 0) accepted.add(command)
      assert.ok(accepted.size > 100, `${accepted.size} accepted`)
      const longest = [...accepted].sort((left, right) => right.length - left.length).slice(0, 150)
      const { status, signal } = spawnSync(bash, ['--norc', '--noprofile', '-c', runAll, bash, ...longest], {
        cwd: join(folder, 'work'),
        env: { PATH: join(folder, 'bin') },
        timeout: 60_000,
      })
      assert.deepEqual([status, signal], [0, null])
      for (const [index, command] of longest.entries()) {
        const kept = (of: string) => readFileSync(join(folder, `${index + 1}.${of}`), 'utf8')
        assert.doesNotMatch(kept('said'), /command not found|No such file/, JSON.stringify(command))
        assert.match(kept('log'), /^(?:ls\n)*$/, JSON.stringify(command))
      }
    })
  })
