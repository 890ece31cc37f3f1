import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { describe, it } from 'node:test'
import { Gateway, type GuardError } from 'guard-gateway/core'
import { type Command, commandKind } from 'guard-gateway/lib/command'
import { cli } from 'guard-gateway/plugins/cli'
import { main } from '../../../presets/default/main.ts'
import { fakeIo } from '../../kit/io.ts'

const BASH = '/bin/bash'

/** What the command line prints for a shell. */
const scriptOf = async (shell: string): Promise<string> => {
  const io = fakeIo()
  assert.equal(await main(['completion', shell], io), 0)
  return io.outText()
}

/** What bash offers for the last of these words, by the function of the script. */
const offered = (script: string, ...words: readonly string[]): readonly string[] => {
  const ask = `eval "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _guard; printf '%s\n' "\${COMPREPLY[@]}"`
  const told = execFileSync(BASH, ['--norc', '--noprofile', '-c', ask, 'bash', script, 'guard', ...words], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH },
  })
  return told.split('\n').filter((word) => word !== '')
}

const bashTests = (): void => {
  it('completes the first and the second word of a command, behind flags too', async () => {
    const script = await scriptOf('bash')
    assert.deepEqual(offered(script, 'pl'), ['playground'])
    assert.deepEqual(offered(script, 'replay', 'p'), ['pin'])
    assert.deepEqual(offered(script, '--config', 'replay.yml', '--json', 'mcp', 'ser'), ['serve'])
    assert.deepEqual(offered(script, 'bench', 'ex'), ['export'])
    for (const word of ['gateway', 'doctor', 'completion']) assert.ok(offered(script, '').includes(word))
  })
  it('completes the flags of a command, and those of all', async () => {
    const script = await scriptOf('bash')
    assert.deepEqual(offered(script, 'replay', 'list', '--st'), ['--status'])
    assert.deepEqual(offered(script, 'replay', 'list', '--no-'), ['--no-color', '--no-progress'])
    assert.deepEqual(offered(script, '--v'), ['--verbose', '--version'])
    assert.deepEqual(offered(script, 'setup', '--port'), [])
  })
  it('completes scenarios, clients, codes and what else a command says that it takes', async () => {
    const script = await scriptOf('bash')
    assert.deepEqual(offered(script, 'playground', 'run', 'exact'), ['exact-loop'])
    assert.deepEqual(offered(script, 'playground', 'run', '--mode', ''), ['shadow', 'enforce'])
    assert.deepEqual(offered(script, 'playground', 'run', '--mode', 'enforce', 'exact'), ['exact-loop'])
    assert.deepEqual(offered(script, 'playground', 'run', 'exact-loop', 'exact'), [])
    assert.deepEqual(offered(script, 'setup', 'codex', 'cla'), ['claude-code'])
    assert.deepEqual(offered(script, 'mcp', 'approvals', 'a'), ['allow'])
    assert.deepEqual(offered(script, 'explain', 'PORT_T'), ['PORT_TAKEN'])
    assert.deepEqual(offered(script, 'replay', 'export', 'x', '--format', 'js'), ['json', 'jsonl'])
  })
  it('leaves files, and what follows --, to the shell', async () => {
    const script = await scriptOf('bash')
    for (const words of [
      ['--config', 'p'],
      ['replay', 'import', 'r'],
      ['run', '--', 'rep'],
      ['mcp', 'run', '--server-id', 'x', '--', 'pl'],
    ])
      assert.deepEqual(offered(script, ...words), [], words.join(' '))
  })
  it('is accepted by bash as it stands, and bound to guard', async () => {
    const told = execFileSync(BASH, [
      '--norc',
      '--noprofile',
      '-c',
      'eval "$1"; complete -p guard',
      'bash',
      await scriptOf('bash'),
    ])
    assert.equal(String(told), 'complete -o default -F _guard guard\n')
  })
}

describe('completion', () => {
  if (existsSync(BASH)) bashTests()

  it('is made of the commands there are, those of plugins too', async () => {
    const gateway = new Gateway().use(cli())
    const dance: Command = {
      id: 'dance',
      args: '[style]',
      summary: "dance, it's fun",
      options: { '-p, --partner <name>': 'with whom', '--slow': 'not fast' },
      choices: { style: ['tango', 'waltz'], '--partner': ['ann', 'bo'] },
      run: async () => 0,
    }
    gateway.registry(commandKind).add(dance)
    const scripts: Record<string, string> = {}
    for (const shell of ['bash', 'zsh', 'fish']) {
      const io = fakeIo()
      assert.equal(
        await gateway
          .registry(commandKind)
          .need('completion')
          .run({ args: [shell], options: {}, rest: [] }, io),
        0,
      )
      scripts[shell] = io.outText()
    }
    for (const shell of ['bash', 'zsh']) {
      assert.match(scripts[shell] ?? '', /'dance:'0\) _guard_offer 'tango waltz' ;;/)
      assert.match(scripts[shell] ?? '', /'dance -p'\) _guard_offer 'ann bo' ;;/)
      assert.match(scripts[shell] ?? '', /'dance'\) _guard_offer '-p --partner --slow --config /)
    }
    assert.match(scripts.zsh ?? '', /^#compdef guard\n/)
    const fish = scripts.fish ?? ''
    assert.match(fish, /^complete -c guard -n 'test -z "\$\(__guard_words\)"' -a 'dance' -d 'dance, it\\'s fun'$/m)
    assert.match(fish, /^complete -c guard -n '__guard_exactly 1 dance' -a 'tango waltz'$/m)
    assert.match(fish, /^complete -c guard -n '__guard_at 1 dance' -s p -l partner -x -a 'ann bo' -d 'with whom'$/m)
  })
  it('names the shells there are', async () => {
    const commands = new Gateway().use(cli()).registry(commandKind)
    await assert.rejects(
      commands.need('completion').run({ args: ['csh'], options: {}, rest: [] }, fakeIo()),
      (error: GuardError) =>
        error.code === 'USAGE' && /no completion for "csh"; there is bash, zsh, fish\./.test(error.message),
    )
  })
})
